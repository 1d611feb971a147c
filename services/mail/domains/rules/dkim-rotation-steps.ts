/**
 * The life of DKIM keys: pending → (seen on every authoritative server, then a wait) → active → retiring → revoked →
 * gone. A key signs only after receivers can fetch it, and its record outlives the mail that it signed.
 */
import { DAY_MS } from '../../../platform/durations.ts'
import type { DkimAlgorithm } from '../../dns/records/dkim.ts'

/** A key as rotation needs it. */
export interface RotationKey {
  selector: string
  algorithm: DkimAlgorithm
  state: 'pending' | 'active' | 'retiring' | 'revoked'
  created_at: Date
  seen_at?: Date
  activated_at?: Date
  retired_at?: Date
  revoked_at?: Date
}

/** What rotation follows from. */
export interface RotationInput {
  keys: readonly RotationKey[]
  now: Date
  /** Selectors whose record every authoritative server and every resolver shows. */
  visible: ReadonlySet<string>
  /** Days between automatic rotations; 0: only on demand. */
  rotationDays: number
  /** How long resolvers may go on saying "no such name": max of the record's TTL and the SOA minimum (RFC 2308). */
  negativeTtlSeconds: number
}

/** One change of a key. */
export type RotationStep =
  | { kind: 'create'; algorithm: DkimAlgorithm }
  | { kind: 'seen' | 'unseen' | 'activate' | 'revoke' | 'remove'; selector: string }
  | { kind: 'retire'; selector: string; by: string }

/** Queued mail lives three days, and receivers verify late: the old record stays a week (RFC 6376 3.6.1 leaves it open). */
const RETIRE_MS = 7 * DAY_MS
/** Time that an empty `p=` shows the revocation before the record is removed. */
const REVOKED_MS = 30 * DAY_MS

/** The steps that are due, in order. Applying them and asking again at the same time gives none. */
export function rotationSteps(input: RotationInput): RotationStep[] {
  return [
    ...(['rsa-sha256', 'ed25519-sha256'] as const).flatMap(algorithm => stepsOf(input, algorithm)),
    ...input.keys.flatMap(key => ageing(key, input.now)),
  ]
}

/** True when an RSA key signs or can sign at once: Ed25519 never signs alone, most receivers cannot verify it. */
export function maySignWithEd25519(keys: readonly Pick<RotationKey, 'algorithm' | 'state'>[]): boolean {
  return keys.some(key => key.algorithm === 'rsa-sha256' && key.state === 'active')
}

function stepsOf(input: RotationInput, algorithm: DkimAlgorithm): RotationStep[] {
  const keys = input.keys.filter(key => key.algorithm === algorithm)
  const active = keys.find(key => key.state === 'active')
  const pending = keys.filter(key => key.state === 'pending').at(-1)
  if (pending) return takeOver(input, pending, active)
  // The keys of a domain that lost its name are withdrawn; it cannot be verified again without one.
  const bare = algorithm === 'rsa-sha256' && keys.every(key => key.state === 'revoked')
  const due =
    active &&
    input.rotationDays > 0 &&
    age(active.activated_at ?? active.created_at, input.now) >= input.rotationDays * DAY_MS
  return bare || due ? [{ kind: 'create', algorithm }] : []
}

function takeOver(input: RotationInput, pending: RotationKey, active: RotationKey | undefined): RotationStep[] {
  const { selector, seen_at, algorithm } = pending
  if (!input.visible.has(selector)) return seen_at ? [{ kind: 'unseen', selector }] : []
  if (algorithm === 'ed25519-sha256' && !maySignWithEd25519(input.keys))
    return seen_at ? [] : [{ kind: 'seen', selector }]
  // Without a key that signs there is nothing to hand over from, and no verifier has asked for the selector before.
  if (!active) return [...(seen_at ? [] : [{ kind: 'seen' as const, selector }]), { kind: 'activate', selector }]
  if (!seen_at) return [{ kind: 'seen', selector }]
  if (age(seen_at, input.now) < input.negativeTtlSeconds * 1000) return []
  return [
    { kind: 'activate', selector },
    { kind: 'retire', selector: active.selector, by: selector },
  ]
}

function ageing(key: RotationKey, now: Date): RotationStep[] {
  if (key.state === 'retiring' && key.retired_at && age(key.retired_at, now) >= RETIRE_MS)
    return [{ kind: 'revoke', selector: key.selector }]
  if (key.state === 'revoked' && key.revoked_at && age(key.revoked_at, now) >= REVOKED_MS)
    return [{ kind: 'remove', selector: key.selector }]
  return []
}

/** Applies one step to the keys; `create` is the caller's, who has the randomness. */
export function applyStep<K extends RotationKey>(
  keys: readonly K[],
  step: Exclude<RotationStep, { kind: 'create' }>,
  now: Date,
): K[] {
  const { kind, selector } = step
  if (kind === 'remove') return keys.filter(key => key.selector !== selector)
  return keys.map(key => (key.selector === selector ? change(key, kind, now) : key))
}

function change<K extends RotationKey>(
  key: K,
  kind: 'seen' | 'unseen' | 'activate' | 'revoke' | 'retire',
  now: Date,
): K {
  switch (kind) {
    case 'seen':
      return { ...key, seen_at: now }
    case 'unseen': {
      const { seen_at: _, ...rest } = key
      return rest as K
    }
    case 'activate':
      return { ...key, state: 'active', activated_at: now }
    case 'retire':
      return { ...key, state: 'retiring', retired_at: now }
    case 'revoke':
      return { ...key, state: 'revoked', revoked_at: now }
  }
}

function age(since: Date, now: Date): number {
  return now.getTime() - since.getTime()
}
