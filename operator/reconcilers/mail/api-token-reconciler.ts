/** Reconciles APITokens: a send token of the MailDomain's account in a Secret. */

import {
  type AppliedToken,
  applyToken,
  TOKEN_OVERLAP_MS,
  type TokenResourceDeps,
  tokenAccounts,
  withdrawTokens,
} from '../../../services/mail/credentials/declare-token.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { APIToken } from '../../resources/api-token.ts'
import type { Kind } from '../../resources/kind.ts'
import { toSeconds } from '../shared/conditions.ts'
import { currentSecret, foreignSecret, keepSecret } from '../shared/managed-secret.ts'
import { entitlementOf, withdrawnCondition, withdrawnOutcome } from '../shared/namespace-entitlement.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { domainOf, waiting } from './domain-ref.ts'

type Spec = APIToken['spec']
type Status = NonNullable<APIToken['status']>

/** Annotation of the Secret: which token it holds. */
const TOKEN_ID = 'postwright.dev/token-id'

/** The reconciler of APITokens. */
export function apiTokenReconciler(context: OperatorContext): Reconciler<Spec, Status> {
  const { mongo, clock } = context
  const deps = (resource: APIToken) => ({ db: mongo.db, clock, resource: managedBy(resource) })
  return {
    kind: APIToken,
    ensure: resource => ensure(context, deps(resource), resource),
    async remove(resource, retain) {
      if (!retain) await withdrawTokens(deps(resource))
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorState(mongo.db, 'APIToken', uid, id, state),
  }
}

/** Name of the Secret. */
function tokenSecretName({ spec, metadata }: Pick<APIToken, 'spec' | 'metadata'>): string {
  return spec.secret.name ?? `${metadata.name}-token`
}

async function ensure(context: OperatorContext, deps: TokenResourceDeps, resource: APIToken): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const lost = await revokeLost(context, deps, resource)
  const ref = await domainOf(context, metadata, spec.domainRef.name)
  if ('condition' in ref) return lost ?? waiting(ref)
  const name = tokenSecretName(resource)
  const current = await currentSecret(context, metadata, name)
  if (current.state === 'foreign') return foreignSecret(name)
  let applied: AppliedToken
  try {
    applied = await applyToken(deps, ref.userId, {
      name: `${metadata.namespace}/${metadata.name}`,
      scopes: spec.scopes,
      domain: ref.domain,
      validForDays: spec.validForDays,
      rotateBeforeDays: spec.rotateBeforeDays,
      held: current.state === 'ours' ? current.data.token : undefined,
    })
  } catch (error) {
    return refusalOf(error)
  }
  const { token } = applied
  const value = applied.value ?? (current.state === 'ours' ? (current.data.token ?? '') : '')
  const content = {
    name,
    type: 'Opaque',
    data: {
      token: value,
      endpoint: `${context.config.APP_BASE_URL}/api/send`,
      ...(token.expires_at ? { 'expires-at': toSeconds(token.expires_at) } : {}),
    },
    annotations: { [TOKEN_ID]: token._id },
  }
  const kept = await keepSecret(context, APIToken as unknown as Kind, metadata, current, content, {
    wasThere: status?.secretName === name,
    renewed: applied.value !== undefined,
  })
  const end = token.expires_at
  return {
    conditions: [accepted(sentence('resource.token_accepted', { domain: ref.domain })), kept.condition],
    message: sentence('resource.token_ready', { name }),
    status: { tokenId: token._id, secretName: name, ...(end ? { expiresAt: toSeconds(end) } : {}) },
    events: [...renewal(context, applied, name), ...kept.events],
    recordId: token._id,
    ...(end
      ? {
          requeueAfterMs: Math.max(
            1_000,
            end.getTime() - spec.rotateBeforeDays * DAY_MS - context.clock.now().getTime(),
          ),
        }
      : {}),
  }
}

/** Revokes the tokens of accounts that the namespace may not act for any more, whatever became of the MailDomain. */
async function revokeLost(
  context: OperatorContext,
  deps: TokenResourceDeps,
  { metadata: { namespace } }: APIToken,
): Promise<Outcome | undefined> {
  let lost: Outcome | undefined
  for (const account of await tokenAccounts(deps)) {
    const entitlement = await entitlementOf(context, namespace, account)
    if (entitlement.allowed) continue
    await withdrawTokens(deps, account)
    lost = withdrawnOutcome(withdrawnCondition(namespace, entitlement, sentence('resource.token_revoked')), true)
  }
  return lost
}

function renewal(context: OperatorContext, { why }: AppliedToken, name: string): EventInput[] {
  if (why === 'due')
    return [
      {
        type: 'Normal',
        reason: 'TokenRotated',
        action: 'Rotate',
        note: `${name} holds a new token; the old one works for another day at most.`,
      },
    ]
  if (why !== 'lost') return []
  context.metrics.operator.driftReverted.inc({ kind: 'APIToken', place: 'secret' })
  const hours = TOKEN_OVERLAP_MS / 3_600_000
  return [
    {
      type: 'Warning',
      reason: 'SecretRestored',
      action: 'WriteSecret',
      note: `The token of ${name} was lost or changed; the Secret holds a new one. What may still be in use ends within ${hours} hours.`,
    },
  ]
}
