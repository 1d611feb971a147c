/** Follows what happens to the account's mail: server-sent events, and asking every so often where they do not come. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Operation } from '../../api/client.ts'
import { followEvents } from './event-stream.ts'

/** How news arrive. */
export type LiveState = 'off' | 'streaming' | 'polling'

/** At most one refresh in this time, however many events come. */
const REFRESH_INTERVAL_MS = 1000

/** Asks the named reads again when an event comes in; says `polling` while the stream is not open. */
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
