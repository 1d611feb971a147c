/** Whether the session ended below a form: its reader is asked to sign in above it, so that nothing typed is lost. */
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let expired = false

/** True while a form is open in which somebody may have typed. */
export function isFormOpen(): boolean {
  return document.querySelector('#content form, [role=dialog] form') !== null
}

/** Says that the session is over, or that there is one again. */
export function setSessionExpired(is: boolean): void {
  expired = is
  for (const listener of listeners) listener()
}

/** Whether it is over, followed. */
export function useSessionExpired(): boolean {
  return useSyncExternalStore(subscribe, () => expired)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
