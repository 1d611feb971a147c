/** Webhooks and their deliveries as the API shows them. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { showLog, showResult } from '../../../platform/webhooks/http/show-attempts.ts'
import { bodyInFormat } from '../send-mail-webhooks.ts'
import type { MailWebhookDoc, MailWebhookEventDoc } from '../store/webhook-collections.ts'
import type { webhook, webhookDelivery, webhookDeliveryDetail } from './webhooks-contract.ts'

/** A webhook without its secret. */
export function showWebhook(doc: MailWebhookDoc, now: Date): z.input<typeof webhook> {
  const { disabled, failing, previous } = doc
  const isPaused = doc.enabled && failing && failing.paused_until > now
  return {
    object: 'webhook',
    id: doc._id,
    name: doc.name,
    url: doc.url,
    events: doc.events,
    format: doc.format ?? 'postwright',
    domain_ids: doc.domain_ids,
    enabled: doc.enabled,
    notice_email: doc.notice_email ?? null,
    managed_by: showManagedBy(doc.managed_by),
    disabled: disabled ? { at: disabled.at.toISOString(), ...sentenceFields('reason', disabled.reason) } : null,
    failing_since: failing?.since.toISOString() ?? null,
    paused_until: isPaused ? failing.paused_until.toISOString() : null,
    previous_secret_until: previous && previous.until > now ? previous.until.toISOString() : null,
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  }
}

const STATES = { waiting: 'waiting', done: 'delivered', failed: 'failed' } as const

/** An event of a webhook. */
export function showDelivery(doc: MailWebhookEventDoc): z.input<typeof webhookDelivery> {
  const { email_id } = doc.data
  return {
    object: 'webhook_delivery',
    id: doc._id,
    webhook_id: doc.webhook_id,
    type: doc.type,
    state: STATES[doc.state],
    attempts: doc.attempts,
    next_attempt_at: doc.state === 'waiting' ? doc.due.toISOString() : null,
    ...showResult(doc),
    email_id: typeof email_id === 'string' ? email_id : null,
    created_at: doc.at.toISOString(),
  }
}

/** The same with its attempts. */
export function showDeliveryDetail(
  webhook: MailWebhookDoc,
  doc: MailWebhookEventDoc,
): z.input<typeof webhookDeliveryDetail> {
  const request = { data: doc.data, body: bodyInFormat(webhook, doc) }
  return { ...showDelivery(doc), ...showLog(doc, request, at => at.toISOString()) }
}
