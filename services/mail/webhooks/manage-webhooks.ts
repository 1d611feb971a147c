/** Webhooks of an account: created with a secret that is shown once, changed, given a new secret, removed. */
import { newId } from '../../platform/ids.ts'
import { findTargetError } from '../../platform/network/guarded-fetch.ts'
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { removeWebhook } from '../../platform/webhooks/event-queue.ts'
import { makeSecret, rotateSecret } from '../../platform/webhooks/webhook-secret.ts'
import { type ActingResource, refuseManaged } from '../managed.ts'
import { mailWebhooksOf } from './queue-mail-events.ts'
import type { WebhookFormat } from './rules/resend-format.ts'
import {
  countMailWebhooks,
  findMailWebhook,
  insertMailWebhook,
  type MailWebhookDoc,
  mailWebhookStore,
  updateMailWebhook,
} from './store/webhook-collections.ts'

/** Dependencies of the use cases. */
export type WebhookDeps = Pick<Foundation, 'mongo' | 'clock' | 'secrets'> &
  ActingResource & {
    config: Pick<Foundation['config'], 'WEBHOOK_ALLOW_PRIVATE'>
    /** Those of these domains that belong to the account. */
    ownDomains(userId: string, ids: readonly string[]): Promise<readonly string[]>
  }

/** What a person chooses. */
export type WebhookSettings = Pick<MailWebhookDoc, 'name' | 'url' | 'events' | 'domain_ids' | 'enabled'> & {
  format?: WebhookFormat | undefined
  notice_email?: string | null | undefined
}

/** A webhook and its secret, to be shown once. */
export interface WebhookAndSecret {
  webhook: MailWebhookDoc
  secret: string
}

/** Largest number of webhooks of an account: each event is stored once per webhook. */
const MAX_WEBHOOKS = 10

/** The sealing context of a webhook's secrets; their purpose is `app-secret`. */
export const mailWebhookPlace = (id: string) => `mail_webhooks/${id}`

/** Creates a webhook. Throws `conflict` when the account has ten, `validation_failed` for an address that is not allowed. */
export async function createMailWebhook(
  deps: WebhookDeps,
  userId: string,
  { notice_email, format, ...settings }: WebhookSettings,
): Promise<WebhookAndSecret> {
  const { mongo, clock, secrets, resource } = deps
  await validateWebhook(deps, userId, settings)
  if ((await countMailWebhooks(mongo.db, userId)) >= MAX_WEBHOOKS)
    throw new ProblemError('conflict', sentence('detail.webhook_limit', { count: MAX_WEBHOOKS }))
  const now = clock.now()
  const _id = newId('wh', now.getTime())
  const secret = makeSecret()
  const webhook: MailWebhookDoc = {
    ...{ _id, user_id: userId, ...settings },
    ...(notice_email && { notice_email }),
    ...(format && { format }),
    sealed: secrets.seal('app-secret', mailWebhookPlace(_id), secret),
    ...(resource && { managed_by: resource }),
    ...{ created_at: now, updated_at: now },
  }
  await insertMailWebhook(mongo.db, webhook)
  mailWebhooksOf(deps).known.delete(userId)
  return { webhook, secret }
}

/** A webhook of the account, or 404. */
export async function getMailWebhook({ mongo }: WebhookDeps, userId: string, id: string): Promise<MailWebhookDoc> {
  return found(await findMailWebhook(mongo.db, userId, id))
}

/**
 * Changes settings; to enable it, or to change its address, ends a pause and what the platform noted about it. Throws
 * `managed_by_resource` for one that a resource manages, as all changes do.
 */
export async function changeMailWebhook(
  deps: WebhookDeps,
  userId: string,
  id: string,
  change: { [K in keyof WebhookSettings]?: WebhookSettings[K] | undefined },
): Promise<MailWebhookDoc> {
  refuseManaged(await getMailWebhook(deps, userId, id), deps)
  await validateWebhook(deps, userId, change)
  const { notice_email, ...rest } = change
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const startsAgain = change.enabled === true || change.url !== undefined
  const unset = {
    ...(startsAgain && { failing: '' as const }),
    ...(change.enabled === true && { disabled: '' as const }),
    ...(notice_email === null && { notice_email: '' as const }),
  }
  const after = await updateMailWebhook(deps.mongo.db, userId, id, {
    $set: { ...given, ...(notice_email && { notice_email }), updated_at: deps.clock.now() },
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
  })
  mailWebhooksOf(deps).known.delete(userId)
  return found(after)
}

/** Gives it a new secret; the one before signs as well for a day. Repeated within the day, only the last two sign. */
export async function rotateWebhookSecret(deps: WebhookDeps, userId: string, id: string): Promise<WebhookAndSecret> {
  const { mongo, clock, secrets } = deps
  const before = await getMailWebhook(deps, userId, id)
  refuseManaged(before, deps)
  const now = clock.now()
  const seal = (value: string) => secrets.seal('app-secret', mailWebhookPlace(id), value)
  const { secret, change } = rotateSecret(before, seal, now)
  const webhook = found(await updateMailWebhook(mongo.db, userId, id, { $set: change }))
  return { webhook, secret }
}

/** Removes a webhook with its waiting events; its log expires. */
export async function removeMailWebhook(deps: WebhookDeps, userId: string, id: string): Promise<MailWebhookDoc> {
  const webhook = await getMailWebhook(deps, userId, id)
  refuseManaged(webhook, deps)
  await deps.mongo.transaction(session => removeWebhook(mailWebhookStore(deps.mongo.db), id, session))
  mailWebhooksOf(deps).known.delete(userId)
  return webhook
}

/** Throws `validation_failed` for an address that is not allowed, and for domains of other accounts. */
export async function validateWebhook(
  { config, ownDomains }: WebhookDeps,
  userId: string,
  { url, domain_ids = [] }: { url?: string | undefined; domain_ids?: readonly string[] | undefined },
): Promise<void> {
  const wrong = url === undefined ? undefined : findTargetError(url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw refuseFields([{ pointer: '/url', reason: sentence(`field.${wrong}`), code: 'not_allowed' }])
  if (domain_ids.length === 0) return
  const own = await ownDomains(userId, domain_ids)
  const foreign = domain_ids.findIndex(id => !own.includes(id))
  if (foreign === -1) return
  const reason = sentence('field.own_domain', { name: domain_ids[foreign] ?? '' })
  throw refuseFields([{ pointer: `/domain_ids/${foreign}`, reason, code: 'not_allowed' }])
}

function found(webhook: MailWebhookDoc | undefined): MailWebhookDoc {
  if (!webhook) throw new ProblemError('not_found', sentence('detail.webhook_unknown'))
  return webhook
}
