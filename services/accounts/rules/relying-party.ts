/** The relying party of passkeys: the host that they are bound to (WebAuthn Level 3, section 4). */

/** Host and origin that every answer of a passkey names. */
export interface RelyingParty {
  id: string
  origin: string
}

/**
 * The relying party of APP_BASE_URL; undefined where browsers allow no passkeys: at an IP address, and over plain http
 * except on localhost.
 */
export function relyingPartyOf(appBaseUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(appBaseUrl)
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
  if (isAddress || (protocol !== 'https:' && hostname !== 'localhost')) return undefined
  return { id: hostname, origin }
}
