/**
 * Keys and encryption at rest. Every key is derived from SESSION_SECRET by HKDF (RFC 5869), one per purpose, so that a
 * leaked session key opens no DKIM key. Ciphertexts name the secret that made them and are bound to their context.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a key is for. A new use gets a new name. */
export type Purpose =
  | 'session'
  | 'dkim'
  | 'smtp-password'
  | 'dns-credential'
  | 'app-secret'
  | 'unsubscribe'
  | 'tracking'
  | 'return-path'
  | 'report-address'
  | 'account-link'
  | 'totp'
  | 'oidc'
  | 'passkey'

/** Seals and opens values, and computes message authentication codes. */
export interface Secrets {
  /** Encrypts with AES-256-GCM; `place` (such as `domains/dom_1/dkim`) must be the same when opened. */
  seal(purpose: Purpose, place: string, plain: string): string
  /** Decrypts what {@link seal} made, with the current or the previous secret. Throws {@link SecretError}. */
  open(purpose: Purpose, place: string, sealed: string): string
  /** True unless the value was sealed with a secret that is neither the current nor the previous one. */
  isKnown(sealed: string): boolean
  /** True when the value was sealed with an older secret and should be sealed again. */
  isStale(sealed: string): boolean
  /** HMAC-SHA-256 of a value under the purpose's current key. */
  mac(purpose: Purpose, value: string): Buffer
  /** The same under the current key and, while one is configured, the previous key: for lookups of values of either. */
  macs(purpose: Purpose, value: string): Buffer[]
}

/** A sealed value that cannot be opened: other place, other secret, or damaged. */
export class SecretError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SecretError'
  }
}

/** Length of the tag of AES-GCM. */
const TAG_BYTES = 16

interface KeyRing {
  id: string
  key(purpose: Purpose): Buffer
}

/** Derives everything from the master secret; `previous` only opens. */
export function createSecrets(master: string, previous?: string): Secrets {
  const current = keyRing(master)
  const rings = previous === undefined ? [current] : [current, keyRing(previous)]
  return {
    seal(purpose, place, plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', current.key(purpose), nonce)
      cipher.setAAD(Buffer.from(place))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${current.id}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
    },
    open(purpose, place, sealed) {
      const [version, id, nonce, data] = sealed.split('.')
      const ring = rings.find(candidate => candidate.id === id)
      if (version !== 'v1' || !nonce || !data) throw new SecretError('not a sealed value')
      if (!ring) throw new SecretError('sealed with another SESSION_SECRET; set the old one as SESSION_SECRET_PREVIOUS')
      const bytes = Buffer.from(data, 'base64url')
      try {
        const decipher = createDecipheriv('aes-256-gcm', ring.key(purpose), Buffer.from(nonce, 'base64url'), {
          authTagLength: TAG_BYTES, // without it a tag that was cut to four bytes would do
        })
        decipher.setAAD(Buffer.from(place))
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
        return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        throw new SecretError('the sealed value is damaged or belongs elsewhere')
      }
    },
    isKnown: sealed => rings.some(({ id }) => id === sealed.split('.')[1]),
    isStale: sealed => sealed.split('.')[1] !== current.id,
    mac: (purpose, value) => macWith(current, purpose, value),
    macs: (purpose, value) => rings.map(ring => macWith(ring, purpose, value)),
  }
}

/** Compares two secrets in constant time, whatever their lengths. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (value: string) => createHmac('sha256', COMPARE_KEY).update(value).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

const COMPARE_KEY = randomBytes(32)

function macWith(ring: KeyRing, purpose: Purpose, value: string): Buffer {
  return createHmac('sha256', ring.key(purpose)).update(value).digest()
}

function keyRing(master: string): KeyRing {
  const derive = (info: string, length: number) => Buffer.from(hkdfSync('sha256', master, 'postwright', info, length))
  const keys = new Map<Purpose, Buffer>()
  return {
    id: derive('key-id', 6).toString('base64url'),
    key(purpose) {
      const key = keys.get(purpose) ?? derive(purpose, 32)
      keys.set(purpose, key)
      return key
    },
  }
}
