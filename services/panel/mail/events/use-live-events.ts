/** Live updates by server-sent events, with polling as the fallback. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Operation } from '../../api/client.ts'
import { followEvents } from './event-stream.ts'

/** `polling`: the stream is not connected, so the page should poll. */
export type LiveState = 'off' | 'streaming' | 'polling'

/** Minimum interval between refreshes (milliseconds), however many events arrive. */
const REFRESH_INTERVAL_MS = 1000

/** Fetches the operations in `refresh` again when an event arrives. */
export function useLiveEvents(enabled: boolean, refresh: readonly Operation[]): LiveState {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('off')
  const operations = refresh.join(' ')
  useEffect(() => {
    if (!enabled) {
      setState('off')
      return
    }
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
    return () => {
      window.clearTimeout(timer)
      stop()
    }
  }, [enabled, operations, queries])
  return state
}
