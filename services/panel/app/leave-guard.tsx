/** Asks before unsaved input is lost by navigation, reload, sign-out or a change of the account. */
import { useBlocker } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useSyncExternalStore } from 'react'
import { loadAtFirstInput } from '../state/first-input.ts'
import { discardUnsavedWork, hasUnsavedWork } from '../ui/forms/unsaved-work.tsx'

const question = loadAtFirstInput(() => import('../ui/forms/discard-question.tsx'))
const DiscardQuestion = lazy(() => question.then(module => ({ default: module.DiscardQuestion })))

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
  const opened = leave !== undefined || blocker.status === 'blocked'
  // Stays afterwards, to give the focus back.
  const wasOpened = useRef(false)
  wasOpened.current ||= opened
  if (!wasOpened.current) return null
  return (
    <Suspense>
      <DiscardQuestion opened={opened} keep={keep} discard={discard} />
    </Suspense>
  )
}
