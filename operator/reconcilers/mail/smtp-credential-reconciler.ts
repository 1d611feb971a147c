/** Reconciles SMTPCredentials: a login of the MailDomain's account, and a Secret that pods can mount. */

import {
  type AppliedCredential,
  applyCredential,
  type CredentialResourceDeps,
  credentialOf,
  disableCredential,
  retainCredential,
  rotateCredential,
  withdrawCredential,
} from '../../../services/mail/credentials/declare-smtp-credential.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { Kind } from '../../resources/kind.ts'
import { SMTPCredential } from '../../resources/smtp-credential.ts'
import { bad, sentenceOf, toSeconds } from '../shared/conditions.ts'
import { currentSecret, foreignSecret, keepSecret, ROTATED_AT } from '../shared/managed-secret.ts'
import { entitlementOf, withdrawnCondition, withdrawnOutcome } from '../shared/namespace-entitlement.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { type AppliedLimits, applyLimits } from './declared-limits.ts'
import { domainOf, waiting } from './domain-ref.ts'
import { smtpEndpoint, smtpSecretData } from './smtp-secret.ts'

type Spec = SMTPCredential['spec']
type Status = NonNullable<SMTPCredential['status']>

/** The reconciler of SMTPCredentials. */
export function smtpCredentialReconciler(context: OperatorContext): Reconciler<Spec, Status> {
  const { mongo, clock, secrets } = context
  const deps = (resource: SMTPCredential) => ({ db: mongo.db, clock, secrets, resource: managedBy(resource) })
  return {
    kind: SMTPCredential,
    ensure: resource => ensure(context, deps(resource), resource),
    async remove(resource, retain) {
      if (!retain) await removeLogin(context, deps(resource), resource)
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorState(mongo.db, 'SMTPCredential', uid, id, state),
  }
}

/** The name of the login. `@` is not allowed in spec.username, so the default never equals a chosen name. */
function usernameOf({ spec, metadata }: Pick<SMTPCredential, 'spec' | 'metadata'>): string {
  return spec.username ?? `${metadata.name}@${metadata.namespace}`
}

/** Name of the Secret. */
function smtpSecretName({ spec, metadata }: Pick<SMTPCredential, 'spec' | 'metadata'>): string {
  return spec.secret.name ?? `${metadata.name}-smtp`
}

async function ensure(
  context: OperatorContext,
  deps: CredentialResourceDeps,
  resource: SMTPCredential,
): Promise<Outcome> {
  const { spec, metadata } = resource
  const lost = await disableLost(context, deps, resource)
  const ref = await domainOf(context, metadata, spec.domainRef.name)
  if ('condition' in ref) return lost ?? waiting(ref)
  // The MailDomain belongs to another account by now; the login of the account before keeps its name and is not deleted.
  if (lost) return nameKept(usernameOf(resource), lost)
  const senders = spec.allowedSenders.map(sender => sender.toLowerCase())
  const fallback = spec.fallbackSender?.toLowerCase()
  if (fallback !== undefined && !fallback.endsWith(`@${ref.domain}`)) {
    return outsideDomain(fallback, 'fallbackSender', ref.domain)
  }
  const foreign = senders.find(sender => !sender.endsWith(`@${ref.domain}`))
  if (foreign !== undefined) {
    return outsideDomain(foreign, 'allowedSenders', ref.domain)
  }
  const name = smtpSecretName(resource)
  const current = await currentSecret(context, metadata, name)
  if (current.state === 'foreign') return foreignSecret(name)
  let applied: AppliedCredential
  try {
    applied = await applyCredential(deps, ref.userId, {
      username: usernameOf(resource),
      allowed_senders: senders.length > 0 ? senders : [`@${ref.domain}`],
      allowed_cidrs: spec.allowedCIDRs,
      messages_per_hour: spec.messagesPerHour,
      fallback_sender: fallback ?? null,
      allow_null_sender: spec.allowNullSender,
      disabled: spec.disabled,
    })
  } catch (error) {
    return refusalOf(error)
  }
  const { _id: id, username, limits_declared: isDeclared = false } = applied.credential
  const limited = { scope: 'credential', id, name: username, isDeclared } as const
  const limits = await applyLimits(context, ref.userId, limited, spec.sendingLimits)
  const login = await withPassword(context, deps, resource, ref.userId, applied)
  const data = smtpSecretData(await smtpEndpoint(context.config, spec.endpoint), username, login.password)
  const content = { name, type: 'servicebinding.io/smtp', data, annotations: { [ROTATED_AT]: login.madeAt } }
  const wasThere = resource.status?.secretName === name
  const kept = await keepSecret(context, SMTPCredential as unknown as Kind, metadata, current, content, {
    wasThere,
    renewed: login.renewed,
  })
  return {
    conditions: [
      limits.refused?.condition ?? accepted(sentence('resource.login_accepted', { username, domain: ref.domain })),
      kept.condition,
    ],
    message: sentence('resource.login_ready', { username, name }),
    status: {
      credentialId: id,
      username,
      secretName: name,
      lastRotatedTime: login.madeAt,
    },
    events: [...drift(context, resource, applied, limits), ...login.events, ...kept.events],
    recordId: id,
    ...againAfter(login.madeAt, spec.rotationIntervalDays, context.clock.now(), limits.refused?.requeueAfterMs),
  }
}

function outsideDomain(address: string, field: string, domain: string): Outcome {
  const reason = sentence('resource.sender_outside_domain', { address, field, domain })
  return { conditions: [bad('Accepted', 'InvalidSpec', reason)] }
}

/** Disables the login of an account that the namespace may not act for any more, whatever became of the MailDomain. */
async function disableLost(
  context: OperatorContext,
  deps: CredentialResourceDeps,
  resource: SMTPCredential,
): Promise<Outcome | undefined> {
  const { namespace } = resource.metadata
  const known = await credentialOf(deps, usernameOf(resource))
  const entitlement = known && (await entitlementOf(context, namespace, known.user_id))
  if (!known || !entitlement || entitlement.allowed) return undefined
  if (!known.disabled) await disableCredential(deps, known)
  const condition = withdrawnCondition(
    namespace,
    entitlement,
    sentence('resource.login_disabled', { username: known.username }),
  )
  return withdrawnOutcome(condition, !known.disabled)
}

/** The login keeps its name for the account that the namespace lost: once listed again, that account owns it again. */
function nameKept(username: string, lost: Outcome): Outcome {
  const message = sentence('resource.login_name_kept', { reason: lost.conditions.map(sentenceOf), username })
  return { ...lost, conditions: [bad('Accepted', 'Conflict', message)] }
}

/** Removes the login; one of an account that the namespace may not act for any more stays there, disabled. */
async function removeLogin(
  context: OperatorContext,
  deps: CredentialResourceDeps,
  resource: SMTPCredential,
): Promise<void> {
  const known = await credentialOf(deps, usernameOf(resource))
  if (!known) return
  const { allowed } = await entitlementOf(context, resource.metadata.namespace, known.user_id)
  if (allowed) await withdrawCredential(deps, known.username)
  else await retainCredential(deps, known)
}

interface Login {
  password: string
  /** When the password was made. */
  madeAt: string
  renewed: boolean
  events: EventInput[]
}

/** The current password, or a new one when a rotation is due or only its hash is left. */
async function withPassword(
  { clock }: OperatorContext,
  deps: CredentialResourceDeps,
  { status, spec }: SMTPCredential,
  userId: string,
  { credential, password, created }: AppliedCredential,
): Promise<Login> {
  const now = clock.now()
  // The record decides: a run may have rotated and ended before it wrote Secret and status.
  const { password_made_at } = credential
  const madeAt = password_made_at
    ? toSeconds(password_made_at)
    : created
      ? toSeconds(now)
      : (status?.lastRotatedTime ?? toSeconds(credential.created_at))
  const due = spec.rotationIntervalDays > 0 && Date.parse(madeAt) + spec.rotationIntervalDays * DAY_MS <= now.getTime()
  if (password !== undefined && !due) return { password, madeAt, renewed: created, events: [] }
  const rotated = await rotateCredential(deps, userId, credential._id)
  const note =
    password === undefined
      ? `The password of ${credential.username} could not be read any more; a new one was made. The old one stops working.`
      : `${credential.username} has a new password; the old one works for another day.`
  const events: EventInput[] = [
    { type: password === undefined ? 'Warning' : 'Normal', reason: 'PasswordRotated', action: 'Rotate', note },
  ]
  return { password: rotated.password, madeAt: toSeconds(now), renewed: true, events }
}

/** The time of the next rotation, or `otherwise` if that is sooner. */
function againAfter(
  madeAt: string,
  days: number,
  now: Date,
  otherwise = Number.POSITIVE_INFINITY,
): { requeueAfterMs?: number } {
  const rotation = days === 0 ? Number.POSITIVE_INFINITY : Date.parse(madeAt) + days * DAY_MS - now.getTime()
  const ms = Math.max(1_000, Math.min(rotation, otherwise))
  return Number.isFinite(ms) ? { requeueAfterMs: ms } : {}
}

/** A login that differs although the spec did not change was changed or removed by something else. */
function drift(
  context: OperatorContext,
  { status, metadata }: SMTPCredential,
  applied: AppliedCredential,
  limits: AppliedLimits,
): EventInput[] {
  const settled = status?.credentialId !== undefined && status.observedGeneration === metadata.generation
  // The MailDomain has another account now: a new declaration, not a change from outside.
  if (applied.moved) return []
  const changed = [...applied.changed, ...(limits.changed ? ['sending_limits'] : [])]
  if (!settled || (!applied.created && changed.length === 0)) return []
  context.metrics.operator.driftReverted.inc({ kind: 'SMTPCredential', place: 'database' })
  const what = applied.created ? 'The login was gone' : `The login was changed (${changed.join(', ')})`
  return [
    {
      type: 'Warning',
      reason: 'DriftReverted',
      action: 'Apply',
      note: `${what} outside of this resource; it is as declared again.`,
    },
  ]
}
