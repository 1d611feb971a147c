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
import type { Config } from '../../../services/platform/process/config.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { APIToken, DOMAIN_SCOPES } from '../../resources/api-token.ts'
import type { Kind } from '../../resources/kind.ts'
import { bad, toSeconds } from '../shared/conditions.ts'
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

/** Base address of the send API for clients at this endpoint. */
function sendUrl(
  { APP_BASE_URL, SEND_CLUSTER_URL }: Pick<Config, 'APP_BASE_URL' | 'SEND_CLUSTER_URL'>,
  endpoint: Spec['endpoint'],
): string {
  return endpoint === 'Cluster' ? (SEND_CLUSTER_URL ?? APP_BASE_URL) : APP_BASE_URL
}

/** Name of the Secret. */
function tokenSecretName({ spec, metadata }: Pick<APIToken, 'spec' | 'metadata'>): string {
  return spec.secret.name ?? `${metadata.name}-token`
}

async function ensure(context: OperatorContext, deps: TokenResourceDeps, resource: APIToken): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const lost = await revokeLost(context, deps, resource)
  const extent = extentOf(spec)
  if (extent === 'mixed')
    return lost ?? { conditions: [bad('Accepted', 'InvalidSpec', sentence('resource.token_scopes_mixed'))] }
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
      mode: spec.mode === 'Test' ? 'test' : 'live',
      capture: spec.capture,
      allowed_cidrs: spec.allowedCIDRs,
      domain: extent === 'account' ? undefined : ref.domain,
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
      endpoint: `${sendUrl(context.config, spec.endpoint)}/api/send`,
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

/**
 * What the scopes hold for. A token with scopes of the account cannot be limited to the domain, so that mixed ones would let it
 * send for all domains of the account. The API server refuses them; this does not depend on its rule.
 */
function extentOf({ scopes }: Pick<Spec, 'scopes'>): 'domain' | 'account' | 'mixed' {
  const ofDomain = scopes.filter(scope => DOMAIN_SCOPES.some(known => known === scope))
  if (ofDomain.length === scopes.length) return 'domain'
  return ofDomain.length === 0 ? 'account' : 'mixed'
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
