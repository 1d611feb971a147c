/** Asks before unsaved input is lost by navigation, reload, sign-out or a change of the account. */
import { useBlocker } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { DiscardQuestion, discardUnsavedWork, hasUnsavedWork } from '../ui/forms/unsaved-work.tsx'

const listeners = new Set<() => void>()
let waiting: (() => void) | undefined

/** Runs an action that leaves the page without a navigation of the router; asks first if input is unsaved. */
export function leavePage(leave: () => void): void {
  if (hasUnsavedWork()) setWaiting(leave)
  else leave()
}

function setWaiting(leave: (() => void) | undefined): void {
  waiting = leave
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** A changed search of the same page loses nothing: tabs and filters are kept there. */
export function LeaveGuard() {
  const leave = useSyncExternalStore(subscribe, () => waiting)
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && hasUnsavedWork(),
    enableBeforeUnload: hasUnsavedWork,
    withResolver: true,
  })
  const keep = () => {
    setWaiting(undefined)
    blocker.reset?.()
  }
  const discard = () => {
    discardUnsavedWork()
    setWaiting(undefined)
    blocker.proceed?.()
    leave?.()
  }
  return <DiscardQuestion opened={leave !== undefined || blocker.status === 'blocked'} keep={keep} discard={discard} />
}
