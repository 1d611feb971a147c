/** DKIM key records (RFC 6376 3.6.1, RFC 8301, RFC 8463): written, read, and compared by key instead of by text. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { parseTagList } from './tag-list.ts'

/** The signature algorithms that we sign with. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** How a published key record compares with our key. */
export type DkimVerdict =
  | { kind: 'same'; warnings: string[] }
  | { kind: 'revoked' }
  | { kind: 'other_key' }
  | { kind: 'invalid'; reason: string }

const BASE64 = /^[a-z0-9+/]+={0,2}$/i

/** The owner name of a selector's record. */
export function dkimName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`
}

/** The TXT value of a key; an empty key revokes the selector (RFC 6376 3.6.1, `p=`). */
export function dkimRecord(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${algorithm === 'ed25519-sha256' ? 'ed25519' : 'rsa'}; p=${publicKey}`
}

/** The base64 value of `p=`: SubjectPublicKeyInfo for RSA, the 32 raw bytes for Ed25519 (RFC 8463 4). Takes either half. */
export function publicKeyValue(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' })
  return (key.asymmetricKeyType === 'ed25519' ? spki.subarray(-32) : spki).toString('base64')
}

/**
 * Compares one TXT value at a selector with our key. DNS panels strip semicolons' blanks, split strings and add
 * quotes, so only what a verifier reads counts: `p`, `k`, `h`, `s`, `t`.
 */
export function evaluateDkim(txt: string, algorithm: DkimAlgorithm, publicKey: string): DkimVerdict {
  const tagList = parseTagList(txt)
  if (!tagList) return { kind: 'invalid', reason: 'it is not a list of tag=value pairs' }
  const given = tagList.get('p')
  if (given === undefined) return { kind: 'invalid', reason: 'it has no p= tag' }
  if (tagList.has('v') && tagList.get('v') !== 'DKIM1') return { kind: 'invalid', reason: 'its version is not DKIM1' }
  if (strip(given) === '') return { kind: 'revoked' }
  // Panels that escape what was pasted with quotes publish them inside the key, and verifiers then read no key.
  if (!BASE64.test(strip(given)))
    return { kind: 'invalid', reason: 'its p= is not base64 (quotes or backslashes in it?)' }
  if (!sameKey(strip(given), publicKey)) return { kind: 'other_key' }
  const reason = unusable(tagList, algorithm)
  if (reason) return { kind: 'invalid', reason }
  return { kind: 'same', warnings: warningsOf(tagList, algorithm, publicKey) }
}

/** Modulus length in bits of an RSA key in `p=`; undefined for other keys. */
export function rsaBits(publicKey: string): number | undefined {
  try {
    return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' }).asymmetricKeyDetails
      ?.modulusLength
  } catch {
    return undefined
  }
}

function unusable(tagList: ReadonlyMap<string, string>, algorithm: DkimAlgorithm): string | undefined {
  const type = tagList.get('k') ?? 'rsa'
  const wanted = algorithm === 'ed25519-sha256' ? 'ed25519' : 'rsa'
  if (type !== wanted) return `it says k=${type}, the key is ${wanted}`
  if (excludes(tagList.get('h'), ['sha256'])) return 'its h= tag does not allow sha256'
  if (excludes(tagList.get('s'), ['*', 'email'])) return 'its s= tag does not allow email'
  return undefined
}

function warningsOf(tagList: ReadonlyMap<string, string>, algorithm: DkimAlgorithm, publicKey: string): string[] {
  const warnings: string[] = []
  if (list(tagList.get('t')).includes('y')) warnings.push('The flag t=y asks receivers to ignore failures; remove it.')
  const bits = algorithm === 'rsa-sha256' ? rsaBits(publicKey) : undefined
  if (bits !== undefined && bits < 2048) warnings.push(`The key has ${bits} bits; use 2048 (RFC 8301).`)
  return warnings
}

function sameKey(given: string, expected: string): boolean {
  return Buffer.from(given, 'base64').equals(Buffer.from(expected, 'base64'))
}

function excludes(value: string | undefined, wanted: readonly string[]): boolean {
  return value !== undefined && !list(value).some(entry => wanted.includes(entry))
}

function list(value: string | undefined): string[] {
  return (value ?? '').split(':').map(entry => entry.trim().toLowerCase())
}

function strip(value: string): string {
  return value.replace(/\s+/g, '')
}
