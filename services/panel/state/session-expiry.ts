/** Whether the session expired while a form was open. The user then signs in in a dialog above it and keeps the input. */
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let expired = false

/** True while a form is open that may contain unsaved input. */
export function isFormOpen(): boolean {
  return document.querySelector('#content form, [role=dialog] form') !== null
}

export function setSessionExpired(is: boolean): void {
  expired = is
  for (const listener of listeners) listener()
}

/** Re-renders the component when the state changes. */
export function useSessionExpired(): boolean {
  return useSyncExternalStore(subscribe, () => expired)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
