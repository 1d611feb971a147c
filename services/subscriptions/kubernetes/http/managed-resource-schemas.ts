/** Owning Kubernetes resources on the wire. */

import { z } from 'zod'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { digits } from '../../http/shared/wire-values.ts'

/** A Kubernetes resource that owns a record; `state` is null until the operator has reconciled it. */
export const managedResource = z
  .object({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    app_key: z.string(),
    record_id: z.string().describe('Digits, or the id of a webhook.'),
    record_name: z.string(),
    state: z
      .object({
        ready: z.boolean(),
        reason: z.string(),
        message: z.string(),
        message_code: sentenceCode,
        message_params: sentenceParams,
        conditions: z.array(
          z.object({
            type: z.string(),
            status: z.enum(['True', 'False', 'Unknown']),
            reason: z.string(),
            message: z.string(),
            message_code: sentenceCode,
            message_params: sentenceParams,
          }),
        ),
        /** Seconds since 1970. */
        observed_at: digits,
      })
      .nullable(),
  })
  .meta({ id: 'ManagedResource' })
