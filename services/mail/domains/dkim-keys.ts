/** Makes and imports DKIM keys: the private half sealed, the public half as it goes into DNS. */
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { createFairLimiter } from '../../platform/concurrency/fair-limiter.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { type DkimAlgorithm, publicKeyValue } from '../dns/records/dkim.ts'
import type { DkimKeyDoc, DomainDoc } from './store/domain-model.ts'

const generate = promisify(generateKeyPair)

/** Where a sealed key belongs; the same string opens it. */
export function dkimPlace(domainId: string, selector: string): string {
  return `domains/${domainId}/dkim/${selector}`
}

/**
 * One key at a time in a process: making one takes up to half a second of a thread of the pool on which logins are
 * checked as well. Accounts take turns.
 */
const generation = createFairLimiter({ atOnce: 1, perKey: 1 })

/**
 * A new key in state `pending`, made when it is the turn of `account`. RSA keys have 2048 bits: longer ones
 * do not fit every provider's TXT limit.
 */
export async function createDkimKey(
  secrets: Secrets,
  domainId: string,
  selector: string,
  algorithm: DkimAlgorithm,
  now: Date,
  account = domainId,
): Promise<DkimKeyDoc> {
  const { privateKey } =
    algorithm === 'ed25519-sha256'
      ? await generate('ed25519')
      : await generation(account, () => generate('rsa', { modulusLength: 2048 }))
  return sealKey(secrets, domainId, selector, privateKey, now)
}

/**
 * A key that the owner brings along (PEM, PKCS #1 or #8). Refuses what receivers refuse: RSA below 1024 bits
 * (RFC 8301 3.2), and RSA above 2048 bits, whose record does not fit every provider.
 */
export function importDkimKey(
  secrets: Secrets,
  domainId: string,
  selector: string,
  pem: string,
  now: Date,
): DkimKeyDoc {
  const key = readKey(pem)
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (key.asymmetricKeyType !== 'ed25519' && (bits === undefined || bits < 1024 || bits > 2048))
    throw refuse(sentence('detail.dkim_key_bits', { bits: bits ?? 0 }))
  return sealKey(secrets, domainId, selector, key, now)
}

/** A selector that no key of the domain ever had: `pw<year><month><letter>`, as in `pw202611a`. */
export function newSelector(keys: readonly Pick<DkimKeyDoc, 'selector'>[], now: Date): string {
  const month = now.toISOString().slice(0, 7).replace('-', '')
  const used = new Set(keys.map(key => key.selector))
  for (let index = 0; ; index++) {
    const letters = index.toString(26).replaceAll(/./g, digit => String.fromCharCode(97 + Number.parseInt(digit, 26)))
    const selector = `pw${month}${letters}`
    if (!used.has(selector)) return selector
  }
}

/** The private half of a key, for tests and for re-signing; throws when the sealed value belongs elsewhere. */
export function openDkimKey(secrets: Secrets, domain: Pick<DomainDoc, '_id'>, key: DkimKeyDoc): KeyObject {
  return createPrivateKey(secrets.open('dkim', dkimPlace(domain._id, key.selector), key.sealed_private_key))
}

function readKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw refuse(sentence('detail.dkim_key_pem'))
  }
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'ed25519')
    throw refuse(sentence('detail.dkim_key_type', { type: key.asymmetricKeyType ?? '?' }))
  return key
}

function refuse(reason: Sentence): ProblemError {
  return new ProblemError('validation_failed', reason, {
    errors: [{ pointer: '/private_key', reason: sentence('field.invalid_key', { reason }) }],
  })
}

function sealKey(secrets: Secrets, domainId: string, selector: string, privateKey: KeyObject, now: Date): DkimKeyDoc {
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return {
    selector,
    algorithm: privateKey.asymmetricKeyType === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256',
    public_key: publicKeyValue(privateKey),
    sealed_private_key: secrets.seal('dkim', dkimPlace(domainId, selector), pem),
    state: 'pending',
    created_at: now,
  }
}
