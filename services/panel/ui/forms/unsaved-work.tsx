/** Guard of unsaved input: closing a dialog, leaving the page and reloading ask before input is lost. */
import { createContext, useContext, useEffect, useRef } from 'react'

/** True while the form that registered it has input that would be lost. */
type Check = () => boolean

/** Checks of all mounted forms. */
const everywhere = new Set<Check>()

/** Whether any form has unsaved input. */
export function hasUnsavedWork(): boolean {
  return [...everywhere].some(check => check())
}

/** The user chose to lose the input: forms that are mounted now no longer ask. */
export function discardUnsavedWork(): void {
  everywhere.clear()
}

/** Checks of the forms inside a dialog, which asks when it is closed. */
const DialogChecks = createContext<Set<Check> | undefined>(undefined)

export const UnsavedWorkOfDialog = DialogChecks.Provider

/** Registers a form; `check` is called when the user is about to leave, so that it sees the latest state. */
export function useUnsavedWork(check: Check): void {
  const dialog = useContext(DialogChecks)
  const latest = useRef(check)
  latest.current = check
  useEffect(() => {
    const registered = () => latest.current()
    everywhere.add(registered)
    dialog?.add(registered)
    return () => {
      everywhere.delete(registered)
      dialog?.delete(registered)
    }
  }, [dialog])
}
