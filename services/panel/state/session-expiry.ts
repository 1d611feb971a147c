/** Whether the session ended below a form: its reader is asked to sign in above it, so that nothing typed is lost. */
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let over = false

/** True while a form is open in which somebody may have typed. */
export function isFormOpen(): boolean {
  return document.querySelector('#content form, [role=dialog] form') !== null
}

/** Says that the session is over, or that there is one again. */
export function setSessionOver(is: boolean): void {
  over = is
  for (const listener of listeners) listener()
}

/** Whether it is over, followed. */
export function useSessionOver(): boolean {
  return useSyncExternalStore(subscribe, () => over)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
