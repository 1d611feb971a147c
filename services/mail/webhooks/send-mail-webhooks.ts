/** Delivers events to the webhooks of accounts, and tells owners of webhooks that the platform disabled. */
import { findUser } from '../../accounts/store/users.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { timeOfId } from '../../platform/ids.ts'
import { createGuardedPost, type GuardedPost } from '../../platform/network/guarded-fetch.ts'
import type { Foundation } from '../../platform/process/run.ts'
import type { Running } from '../../platform/running.ts'
import { type Sending, startSending } from '../../platform/webhooks/deliver-events.ts'
import { mailWebhookPlace } from './manage-webhooks.ts'
import { mailWebhooksOf } from './queue-mail-events.ts'
import { disabledNotice } from './rules/disabled-notice.ts'
import { resendBody } from './rules/resend-format.ts'
import {
  findUnannounced,
  type MailWebhookDoc,
  type MailWebhookEventDoc,
  mailWebhookStore,
  markAnnounced,
} from './store/webhook-collections.ts'

type Deps = Pick<Foundation, 'mongo' | 'clock' | 'log' | 'secrets' | 'config'>

/** Receivers written for Resend read the first, newer ones both. */
const RESEND_HEADERS = ['svix', 'webhook']

/** The body of a request to a webhook that has a format of its own. */
export function bodyInFormat(
  { format }: Pick<MailWebhookDoc, 'format'>,
  event: Pick<MailWebhookEventDoc, 'type' | 'at' | 'data'>,
): string | undefined {
  return format === 'resend' ? JSON.stringify(resendBody(event, createdAt)) : undefined
}

function createdAt(id: unknown): Date | undefined {
  const time = typeof id === 'string' ? timeOfId(id) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time)
}

/** How events of accounts are sent. */
export function mailWebhookSending(
  deps: Deps,
  post: GuardedPost = createGuardedPost({ allowPrivate: deps.config.WEBHOOK_ALLOW_PRIVATE }),
): Sending<MailWebhookDoc, MailWebhookEventDoc> {
  const { mongo, clock, log, secrets } = deps
  return {
    ...{ store: mailWebhookStore(mongo.db), clock, log, post, random: Math.random },
    open: ({ _id }, sealed) => secrets.open('app-secret', mailWebhookPlace(_id), sealed),
    dataOf: ({ data }) => data,
    bodyOf: bodyInFormat,
    headersOf: ({ format }) => (format === 'resend' ? RESEND_HEADERS : undefined),
    onDisabled: ({ user_id }) => mailWebhooksOf(deps).known.delete(user_id),
  }
}

/** Sends events as they become due, until it is stopped. */
export function startMailWebhooks(deps: Deps): Running {
  return startSending(mailWebhookSending(deps))
}

/** A mail of the platform; one with the same key is not sent again. */
export type SendNotice = (mail: { key: string; to: string; subject: string; text: string }) => Promise<void>

/** Notices that one run sends at most. */
const AT_ONCE = 100

/** Mails the owners of disabled webhooks who gave an address, in the language of the account; may be repeated and interrupted. */
export async function announceDisabled(db: Db, send: SendNotice, panelUrl: string): Promise<void> {
  for (const webhook of await findUnannounced(db, AT_ONCE)) {
    const { _id, user_id, name, url, notice_email: to, disabled } = webhook
    if (to && disabled) {
      const owner = await findUser(db, user_id)
      const facts = { name: name || url, url, ...disabled, link: `${panelUrl}/webhooks` }
      const key = `webhook:${_id}:${disabled.at.getTime()}`
      await send({ key, to, ...disabledNotice(owner?.lang ?? 'en', facts) })
    }
    await markAnnounced(db, _id)
  }
}
