/** Live updates by server-sent events, with polling as the fallback. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Operation } from '../../api/client.ts'
import { followEvents } from './event-stream.ts'

/** `polling`: the stream is interrupted, so the page should poll. */
export type LiveState = 'off' | 'connecting' | 'streaming' | 'polling'

/** Minimum interval between refreshes (milliseconds), however many events arrive. */
const REFRESH_INTERVAL_MS = 1000

/** Fetches the operations in `refresh` again when an event arrives. Another `attempt` opens a new stream at once. */
export function useLiveEvents(enabled: boolean, refresh: readonly Operation[], attempt = 0): LiveState {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('off')
  const operations = refresh.join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is a reason to connect again
  useEffect(() => {
    if (!enabled) {
      setState('off')
      return
    }
    setState('connecting')
    let timer: number | undefined
    const onEvent = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined
        for (const name of operations.split(' ')) void queries.invalidateQueries({ queryKey: [name] })
      }, REFRESH_INTERVAL_MS)
    }
    const stop = followEvents({
      open: () => new EventSource('/api/v1/events/stream'),
      schedule(ms, task) {
        const id = window.setTimeout(task, ms)
        return () => window.clearTimeout(id)
      },
      onEvent,
      onStateChange: open => setState(open ? 'streaming' : 'polling'),
    })
    // A connection that is cut off reports nothing by itself.
    const onOffline = () => setState('polling')
    window.addEventListener('offline', onOffline)
    return () => {
      window.removeEventListener('offline', onOffline)
      window.clearTimeout(timer)
      stop()
    }
  }, [enabled, operations, queries, attempt])
  return state
}
