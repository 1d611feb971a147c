/** The webhook of an account that a WebhookEndpoint declares. */
import { findAccount, type UserDoc } from '../../../services/accounts/find-account.ts'
import {
  type DeclarationRequest,
  type DeclaredMailWebhook,
  declareMailWebhook,
  leaveMailWebhooks,
  type WebhookResourceDeps,
  webhookAccounts,
  withdrawMailWebhooks,
} from '../../../services/mail/webhooks/declare-webhook.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { WebhookEndpoint } from '../../resources/webhook-endpoint.ts'
import { domainOf, waiting } from '../mail/domain-ref.ts'
import { bad } from '../shared/conditions.ts'
import { accountOf } from '../shared/declared-account.ts'
import { leaveLostAccounts } from '../shared/lost-accounts.ts'
import { namespaceAccount, wantsToAdopt } from '../shared/namespace-owners.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import type { WebhookTarget } from './webhook-target.ts'

/** Dependencies of the use cases that act for this resource. */
function depsOf({ mongo, clock, secrets, config }: OperatorContext, resource: WebhookEndpoint): WebhookResourceDeps {
  // The domains come from records of this account.
  return { mongo, clock, secrets, config, resource: managedBy(resource), ownDomains: async (_, ids) => ids }
}

/** Leaves webhooks to accounts that the namespace may not act for any more. */
export async function leaveLostMail(context: OperatorContext, resource: WebhookEndpoint): Promise<EventInput[]> {
  const deps = depsOf(context, resource)
  return leaveLostAccounts(context, resource.metadata.namespace, await webhookAccounts(deps), {
    what: `The webhook of ${resource.metadata.name}, disabled,`,
    leave: account => leaveMailWebhooks(deps, account),
  })
}

/** Removes the webhooks of the resource, or leaves them to their accounts. */
export function withdrawMail(
  context: OperatorContext,
  resource: WebhookEndpoint,
  how: 'Delete' | 'Retain',
): Promise<void> {
  return withdrawMailWebhooks(depsOf(context, resource), how)
}

/** The account and the domains of a resource, or why there are none yet. */
export async function mailTarget(
  context: OperatorContext,
  resource: WebhookEndpoint,
): Promise<WebhookTarget | { outcome: Outcome }> {
  const found = await accountAndDomains(context, resource)
  if ('outcome' in found) return found
  const { account, domainIds } = found
  const deps = depsOf(context, resource)
  return {
    owner: account.username,
    async declare(requests) {
      // The domains belong to another account by now: the webhook in the one before ends with that.
      await withdrawMailWebhooks(deps, resource.spec.deletionPolicy, account._id)
      const wanted: DeclaredMailWebhook = settingsOf(resource, domainIds)
      const request: DeclarationRequest = { ...requests, adopt: wantsToAdopt(resource.metadata) }
      return declareMailWebhook(deps, account._id, wanted, request)
    },
  }
}

interface AccountAndDomains {
  account: Pick<UserDoc, '_id' | 'username'>
  domainIds: string[] | undefined
}

async function accountAndDomains(
  context: OperatorContext,
  { spec, metadata }: WebhookEndpoint,
): Promise<AccountAndDomains | { outcome: Outcome }> {
  const domainIds: string[] = []
  const named = spec.owner?.username
  const first = spec.domainRefs?.[0]
  let account: Pick<UserDoc, '_id' | 'username'> | undefined
  if (named !== undefined || !first) {
    const own = await accountOf(context, metadata.namespace, named ?? namespaceAccount(metadata.namespace))
    if ('condition' in own) return { outcome: { conditions: [own.condition] } }
    account = own
  }
  for (const { name } of spec.domainRefs ?? []) {
    const ref = await domainOf(context, metadata, name)
    if ('condition' in ref) return { outcome: waiting(ref) }
    account ??= await findAccount(context.mongo.db, ref.userId)
    if (account?._id !== ref.userId) {
      const message = sentence('resource.domain_other_account', { name, other: account?.username ?? '' })
      return { outcome: { conditions: [bad('Accepted', 'InvalidSpec', message)] } }
    }
    domainIds.push(ref.domainId)
  }
  // An account is known by now: that of the namespace, a named one, or that of the first domain.
  const known = account ?? { _id: '', username: '' }
  return { account: known, domainIds: spec.domainRefs && [...new Set(domainIds)] }
}

const FORMATS = { Postwright: 'postwright', Resend: 'resend' } as const

function settingsOf({ spec }: WebhookEndpoint, domainIds: string[] | undefined): DeclaredMailWebhook {
  return {
    url: spec.url,
    enabled: spec.enabled,
    name: spec.displayName,
    events: spec.events && ([...new Set(spec.events)] as DeclaredMailWebhook['events']),
    format: spec.format && FORMATS[spec.format],
    domain_ids: domainIds,
    notice_email: spec.noticeEmail,
  }
}
