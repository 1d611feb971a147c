/** Webhooks on the wire. */
import { z } from 'zod'
import { deliveryLog, resultFields } from '../../../platform/webhooks/http/attempt-schemas.ts'
import { dateTime, digits, flag } from '../../http/shared/wire-values.ts'

/** A webhook of an app; `secret` is only in the response that creates it. */
export const webhookRecord = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    enabled: flag,
    /** The Kubernetes resource that manages it, as `k8s:namespace/name`. */
    managed_by: z.string().optional(),
    created_at: dateTime,
    updated_at: dateTime,
    secret: z.string().optional(),
    /** Why and when the platform disabled it: after days of failures, or because its receiver answered 410. */
    disabled_at: dateTime.optional(),
    disabled_reason: z.string().optional(),
    disabled_reason_code: z.string().optional(),
    /** Since when every attempt fails. */
    failing_since: dateTime.optional(),
    /** Until when the secret before the current one signs as well. */
    previous_secret_until: dateTime.optional(),
    recent: z
      .array(
        z.object({
          id: z.string(),
          type: z.string(),
          state: z.enum(['waiting', 'done', 'failed']),
          attempts: digits,
          result: z.string(),
          /** Stable code of a result that is ours. */
          result_code: z.string().optional(),
          created_at: dateTime,
        }),
      )
      .optional(),
  })
  .meta({ id: 'Webhook' })

/** An event on its way to a webhook of an app. */
export const deliveryRecord = z
  .object({
    /** The `webhook-id` of every attempt. */
    id: z.string(),
    webhook_id: z.string(),
    type: z.string(),
    state: z.enum(['waiting', 'done', 'failed']),
    attempts: digits,
    next_attempt_at: dateTime.optional(),
    ...resultFields,
    created_at: dateTime,
  })
  .meta({ id: 'AppWebhookDelivery' })

/** The same with what was sent and answered. */
export const deliveryDetail = deliveryRecord.extend(deliveryLog(dateTime)).meta({ id: 'AppWebhookDeliveryDetail' })
