/** Subscriptions selected on the pages of a list. */
import { useState } from 'react'
import type { Subscription } from './subscription-menu.tsx'
import type { Selection } from './subscription-table.tsx'

/** Most subscriptions of one action; the API allows as many in one request. */
export const MAX_SELECTED = 500

/** The selection is kept while the user changes the page or the filters. */
export function useSelection(): Selection & { clear: () => void } {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Subscription>>(new Map())
  const set = (subscriptions: readonly Subscription[], selected: boolean) =>
    setChosen(current => {
      const next = new Map(current)
      for (const one of subscriptions)
        if (!selected) next.delete(one.id)
        else if (next.size < MAX_SELECTED) next.set(one.id, one)
      return next
    })
  return { chosen, set, clear: () => setChosen(new Map()) }
}
