/** Adds, activates and revokes DKIM keys, and advances their states by what DNS shows. */
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../dns/dns-context.ts'
import type { DkimAlgorithm } from '../dns/records/dkim.ts'
import { createDkimKey, importDkimKey, newSelector } from './dkim-keys.ts'
import { applyStep, maySignWithEd25519, rotationSteps } from './rules/dkim-rotation-steps.ts'
import { checkSoon, replaceKeys } from './store/dns-checks.ts'
import type { DkimKeyDoc, DomainDoc } from './store/domain-model.ts'
import { findDomainById, keysOfName } from './store/domains.ts'

/** A new key on demand. */
export interface NewKey {
  algorithm?: DkimAlgorithm
  /** Names the selector of an imported key; others are made up. */
  selector?: string
  /** PEM of a key that the owner brings along. */
  privateKey?: string
}

/** Attempts of an optimistic change before it fails with `conflict`. */
const MAX_TRIES = 5

/**
 * Adds a pending key, which takes over by itself once it is visible everywhere. 409 `conflict` while another key of
 * the algorithm is pending, or for Ed25519 without an RSA key that signs; 422 for an imported key that cannot be used.
 */
export async function requestKey(deps: DnsDeps, domain: DomainDoc, wanted: NewKey): Promise<DkimKeyDoc> {
  const { algorithm = 'rsa-sha256', selector, privateKey } = wanted
  // Before a key is made: that costs 100 ms of CPU. The algorithm of an imported one is not known yet.
  if (privateKey === undefined) assertAddable(domain.dkim, { algorithm, selector })
  const key = await makeKey(deps, domain, wanted)
  await changeKeys(deps, domain._id, keys => {
    assertAddable(keys, key)
    return [...keys, key]
  })
  await checkSoon(deps.db, domain._id, deps.clock.now())
  return key
}

function assertAddable(
  keys: readonly DkimKeyDoc[],
  { algorithm, selector }: { algorithm: DkimAlgorithm; selector: string | undefined },
): void {
  if (keys.some(other => other.state === 'pending' && other.algorithm === algorithm))
    throw new ProblemError('conflict', sentence('detail.dkim_key_pending'))
  if (keys.some(other => other.selector === selector))
    throw new ProblemError('conflict', sentence('detail.dkim_selector_used', { selector: selector ?? '' }))
  if (algorithm === 'ed25519-sha256' && !maySignWithEd25519(keys))
    throw new ProblemError('conflict', sentence('detail.dkim_ed25519_alone'))
}

/** Lets a pending key sign now; its record must have been seen on every name server. 404 for another selector, 409 for another state. */
export function activateKey(deps: DnsDeps, domain: DomainDoc, selector: string): Promise<DomainDoc['dkim']> {
  const now = deps.clock.now()
  return changeKeys(deps, domain._id, keys => {
    const key = keyIn(keys, selector)
    if (key.state !== 'pending' || !key.seen_at) throw new ProblemError('conflict', sentence('detail.dkim_not_seen'))
    const old = keys.find(other => other.state === 'active' && other.algorithm === key.algorithm)
    const activated = applyStep(keys, { kind: 'activate', selector }, now)
    return old ? applyStep(activated, { kind: 'retire', selector: old.selector, by: selector }, now) : activated
  })
}

/** Withdraws a key at once: its record becomes an empty `p=`. 409 for the only key that signs. */
export async function revokeKey(deps: DnsDeps, domain: DomainDoc, selector: string): Promise<DomainDoc['dkim']> {
  const now = deps.clock.now()
  const keys = await changeKeys(deps, domain._id, before => {
    const key = keyIn(before, selector)
    if (key.state === 'active' && key.algorithm === 'rsa-sha256')
      throw new ProblemError('conflict', sentence('detail.dkim_key_signs'))
    if (key.state === 'revoked') return before
    return applyStep(before, { kind: 'revoke', selector }, now)
  })
  await checkSoon(deps.db, domain._id, now)
  return keys
}

/** Advances the keys after a check. Returns true when a record has to be written, changed or removed. */
export async function advanceKeys(
  deps: DnsDeps,
  domain: DomainDoc,
  visible: ReadonlySet<string>,
  negativeTtl: () => Promise<number | undefined>,
): Promise<boolean> {
  const now = deps.clock.now()
  const handingOver = domain.dkim.some(key => key.state === 'pending' && key.seen_at)
  const steps = rotationSteps({
    keys: domain.dkim,
    now,
    visible,
    rotationDays: domain.dns?.manage ? (domain.dns.dkim_rotation_days ?? 0) : 0,
    negativeTtlSeconds: Math.max(RECORD_TTL, handingOver ? ((await negativeTtl()) ?? UNKNOWN_TTL) : 0),
  })
  if (steps.length === 0) return false
  let keys = domain.dkim
  for (const step of steps)
    keys = step.kind === 'create' ? [...keys, await makeKey(deps, domain, step, keys)] : applyStep(keys, step, now)
  if (!(await replaceKeys(deps.db, domain._id, domain.dkim, keys))) return false // another process did; the next check continues
  deps.log.info({ domain: domain._id, steps: steps.map(({ kind }) => kind) }, 'dkim keys moved on')
  return steps.some(({ kind }) => kind === 'create' || kind === 'revoke' || kind === 'remove')
}

/** TTL of our records, and a wait that outlasts most negative caches where the zone does not say. Seconds. */
const RECORD_TTL = 600
const UNKNOWN_TTL = 3_600

/** `unsaved`: keys of the same run, whose selectors are taken although they are not stored yet. */
async function makeKey(
  { db, secrets, clock }: DnsDeps,
  domain: DomainDoc,
  wanted: NewKey,
  unsaved: readonly DkimKeyDoc[] = [],
): Promise<DkimKeyDoc> {
  const now = clock.now()
  const selector = wanted.selector ?? newSelector([...(await keysOfName(db, domain.name)), ...unsaved], now)
  if (wanted.privateKey !== undefined) return importDkimKey(secrets, domain._id, selector, wanted.privateKey, now)
  return createDkimKey(secrets, domain._id, selector, wanted.algorithm ?? 'rsa-sha256', now, domain.user_id)
}

function keyIn(keys: readonly DkimKeyDoc[], selector: string): DkimKeyDoc {
  const key = keys.find(candidate => candidate.selector === selector)
  if (!key) throw new ProblemError('not_found', sentence('detail.dkim_key_unknown'))
  return key
}

async function changeKeys(
  { db }: DnsDeps,
  id: string,
  change: (keys: DomainDoc['dkim']) => DomainDoc['dkim'],
): Promise<DomainDoc['dkim']> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const domain = await findDomainById(db, id)
    if (!domain) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
    const after = change(domain.dkim)
    if (after === domain.dkim || (await replaceKeys(db, id, domain.dkim, after))) return after
  }
  throw new ProblemError('conflict', sentence('detail.dkim_keys_changing'))
}
