/** Webhooks of accounts that Kubernetes resources declare. */
import { managedText } from '../../platform/managed/rules/managed-by.ts'
import {
  applyDeclaration,
  type DeclarationRequest,
  type DeclaredWebhook,
  webhookOfResource,
} from '../../platform/webhooks/declared-webhook.ts'
import type { ManagedBy } from '../store/documents.ts'
import {
  createMailWebhook,
  mailWebhookPlace,
  removeMailWebhook,
  rotateWebhookSecret,
  validateWebhook,
  type WebhookDeps,
  type WebhookSettings,
} from './manage-webhooks.ts'
import { mailWebhooksOf } from './queue-mail-events.ts'
import {
  type MailWebhookDoc,
  mailWebhooksOfResource,
  updateMailWebhook,
  webhooksOfAccount,
} from './store/webhook-collections.ts'

/** Use cases run for a resource. */
export type WebhookResourceDeps = WebhookDeps & { resource: ManagedBy }

/** What a resource declares; what is absent keeps its value, or gets the default of the API. */
export type DeclaredMailWebhook = Pick<WebhookSettings, 'url'> & {
  [K in Exclude<keyof WebhookSettings, 'url'>]?: NonNullable<WebhookSettings[K]> | undefined
}

export type { DeclarationRequest, DeclaredWebhook, MailWebhookDoc }

/**
 * Creates the webhook of a resource, or makes it as declared. Throws `validation_failed` for an address that is not allowed,
 * and `conflict` when the account has too many webhooks.
 */
export async function declareMailWebhook(
  deps: WebhookResourceDeps,
  userId: string,
  given: DeclaredMailWebhook,
  request: DeclarationRequest,
): Promise<DeclaredWebhook<MailWebhookDoc>> {
  const { mongo, clock, resource, secrets } = deps
  const declared = withoutUndefined(given)
  await validateWebhook(deps, userId, declared)
  const known = webhookOfResource(await webhooksOfAccount(mongo.db, userId), resource, declared.url, request.adopt)
  if (!known) {
    const settings = { name: managedText(resource), events: [], domain_ids: [], enabled: true }
    const made = await createMailWebhook(deps, userId, { ...settings, ...declared })
    return { ...made, outcome: 'created', rotated: true, enabledAgain: false }
  }
  return applyDeclaration(known, declared, resource, request, {
    open: ({ _id }, sealed) => secrets.open('app-secret', mailWebhookPlace(_id), sealed),
    write: (webhook, change) => write(deps, webhook, change),
    rotate: ({ _id }) => rotateWebhookSecret(deps, userId, _id),
    now: clock.now(),
  })
}

/** Removes the webhooks of a resource, or leaves them to their account; one of the account `except` stays as it is. */
export async function withdrawMailWebhooks(
  deps: WebhookResourceDeps,
  how: 'Delete' | 'Retain',
  except?: string,
): Promise<void> {
  const { resource } = deps
  for (const webhook of await mailWebhooksOfResource(deps.mongo.db, resource.uid))
    if (webhook.user_id === except) continue
    else if (how === 'Delete') await removeMailWebhook(deps, webhook.user_id, webhook._id)
    else await write(deps, webhook, { set: { released_by: resource }, remove: ['managed_by', 'k8s'] })
}

/** The accounts in which the resource has webhooks. */
export async function webhookAccounts({ mongo, resource }: WebhookResourceDeps): Promise<string[]> {
  return [...new Set((await mailWebhooksOfResource(mongo.db, resource.uid)).map(({ user_id }) => user_id))]
}

/** Leaves the webhooks of a resource to an account that it may not act for any more, disabled: nothing of it is deleted. */
export async function leaveMailWebhooks(deps: WebhookResourceDeps, userId: string): Promise<void> {
  for (const webhook of await mailWebhooksOfResource(deps.mongo.db, deps.resource.uid))
    if (webhook.user_id === userId)
      await write(deps, webhook, { set: { enabled: false }, remove: ['managed_by', 'k8s'] })
}

async function write(
  deps: WebhookResourceDeps,
  webhook: MailWebhookDoc,
  { set, remove }: { set: Partial<MailWebhookDoc>; remove: readonly (keyof MailWebhookDoc)[] },
): Promise<MailWebhookDoc> {
  const { user_id, _id } = webhook
  const change = { ...set, updated_at: deps.clock.now() }
  const $unset = Object.fromEntries(remove.map(field => [field, '' as const]))
  const after = await updateMailWebhook(deps.mongo.db, user_id, _id, {
    $set: change,
    ...(remove.length > 0 && { $unset }),
  })
  mailWebhooksOf(deps).known.delete(user_id)
  // Removed in parallel: the next run creates it again.
  return after ?? webhook
}

function withoutUndefined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> }
}
