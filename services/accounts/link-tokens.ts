/** Tokens of links in mail: 256 random bits, of which only a keyed hash is stored. */
import { randomBytes } from 'node:crypto'
import type { Secrets } from '../platform/security/secrets.ts'

/** A new token and the hash to store. */
export function makeLinkToken(secrets: Secrets): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: secrets.mac('account-link', token).toString('hex') }
}

/** The hashes that a token may have in the database: under the current key, and under the previous one while it counts. */
export function hashesOfLinkToken(secrets: Secrets, token: string): string[] {
  return secrets.macs('account-link', token).map(mac => mac.toString('hex'))
}

/**
 * The address of a page of the panel with the token in the fragment, which browsers send to no server and in no Referer
 * header.
 */
export function linkWith(baseUrl: string, page: string, token: string): string {
  return `${baseUrl}${page}#${token}`
}
