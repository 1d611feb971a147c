/** DKIM key records (RFC 6376 3.6.1, RFC 8301, RFC 8463): written, read, and compared by key instead of by text. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { parseTagList } from './tag-list.ts'

/** The signature algorithms that we sign with. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** How a published key record compares with our key. */
export type DkimVerdict =
  | { kind: 'same'; warnings: Sentence[] }
  | { kind: 'revoked' }
  | { kind: 'other_key' }
  | { kind: 'invalid'; reason: Sentence }

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
  if (!tagList) return { kind: 'invalid', reason: sentence('dns.dkim_no_tags') }
  const given = tagList.get('p')
  if (given === undefined) return { kind: 'invalid', reason: sentence('dns.dkim_no_key') }
  if (tagList.has('v') && tagList.get('v') !== 'DKIM1') return { kind: 'invalid', reason: sentence('dns.dkim_version') }
  if (strip(given) === '') return { kind: 'revoked' }
  // Panels that escape what was pasted with quotes publish them inside the key, and verifiers then read no key.
  if (!BASE64.test(strip(given))) return { kind: 'invalid', reason: sentence('dns.dkim_not_base64') }
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

function unusable(tagList: ReadonlyMap<string, string>, algorithm: DkimAlgorithm): Sentence | undefined {
  const type = tagList.get('k') ?? 'rsa'
  const wanted = algorithm === 'ed25519-sha256' ? 'ed25519' : 'rsa'
  if (type !== wanted) return sentence('dns.dkim_key_type', { type, wanted })
  if (excludes(tagList.get('h'), ['sha256'])) return sentence('dns.dkim_no_sha256')
  if (excludes(tagList.get('s'), ['*', 'email'])) return sentence('dns.dkim_no_email')
  return undefined
}

function warningsOf(tagList: ReadonlyMap<string, string>, algorithm: DkimAlgorithm, publicKey: string): Sentence[] {
  const warnings: Sentence[] = []
  if (list(tagList.get('t')).includes('y')) warnings.push(sentence('dns.dkim_testing'))
  const bits = algorithm === 'rsa-sha256' ? rsaBits(publicKey) : undefined
  if (bits !== undefined && bits < 2048) warnings.push(sentence('dns.dkim_short_key', { bits }))
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
