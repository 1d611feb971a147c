/** Follows what happens to the account's mail: server-sent events, and asking every so often where they do not come. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Operation } from '../../api/client.ts'
import { follow } from './event-stream.ts'

/** How news arrive. */
export type LiveState = 'off' | 'streaming' | 'polling'

/** At most one refresh in this time, however many events come. */
const QUIET_MS = 1000

/** Asks the named reads again when an event comes in; says `polling` while the stream is not open. */
export function useLive(on: boolean, refresh: readonly Operation[]): LiveState {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('off')
  const names = refresh.join(' ')
  useEffect(() => {
    if (!on) {
      setState('off')
      return
    }
    let timer: number | undefined
    const news = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined
        for (const name of names.split(' ')) void queries.invalidateQueries({ queryKey: [name] })
      }, QUIET_MS)
    }
    const leave = follow({
      open: () => new EventSource('/api/v1/events/stream'),
      later(ms, task) {
        const id = window.setTimeout(task, ms)
        return () => window.clearTimeout(id)
      },
      news,
      told: open => setState(open ? 'streaming' : 'polling'),
    })
    return () => {
      window.clearTimeout(timer)
      leave()
    }
  }, [on, names, queries])
  return state
}
