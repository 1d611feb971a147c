/** The token of a link in a mail. It is in the fragment of the address, which no server and no Referer header gets. */
import { useEffect, useState } from 'react'

/** The token that a fragment carries; empty without one. */
export function tokenIn(fragment: string): string {
  return /^#([\w-]{43})$/.exec(fragment)?.[1] ?? ''
}

/** The token of the address with which the page was opened; it is removed from the address and so from the history. */
export function useLinkToken(): string {
  const [token] = useState(() => tokenIn(window.location.hash))
  useEffect(() => {
    if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [token])
  return token
}
