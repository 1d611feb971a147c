/** The page to open after a sign-in at the login provider, kept while the browser is there. */
import { signInSearch } from './session.ts'

const KEY = 'postwright.sign-in-target'

/** Keeps the address for this tab; undefined forgets one that was kept before. */
export function rememberTarget(to: string | undefined): void {
  try {
    if (to === undefined) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, to)
  } catch {
    // Storage may be disabled in private windows; the first page opens then.
  }
}

/** The address that was kept, and forgets it. Only paths of this origin are returned. */
export function takeTarget(): string | undefined {
  try {
    const to = sessionStorage.getItem(KEY) ?? undefined
    sessionStorage.removeItem(KEY)
    return signInSearch({ to }).to
  } catch {
    return undefined
  }
}
