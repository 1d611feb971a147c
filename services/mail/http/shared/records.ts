/** Fields that records of several kinds share. */

import { z } from 'zod'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { isNetwork } from '../../../platform/network/ip-networks.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'

/** The Kubernetes resource that manages a record. */
export const managedBy = z
  .strictObject({ kind: z.string(), namespace: z.string(), name: z.string() })
  .meta({ id: 'ManagedBy' })

/** Networks that something is limited to; empty = any. */
export const networks = z
  .array(
    z
      .string()
      .max(64)
      .refine(isNetwork, reason('field.network'))
      .meta({ format: 'ip-network', examples: ['192.0.2.0/24', '2001:db8::/32'] }),
  )
  .max(50)

/** Path parameter: the id of a record. */
export const recordParams = z.strictObject({ id: z.string().min(1).max(128) })

/** State of a resource at the operator's last run. */
export const resourceState = z
  .strictObject({
    ready: z.boolean(),
    reason: z.string(),
    message: z.string(),
    message_code: sentenceCode,
    message_params: sentenceParams,
    conditions: z.array(
      z.strictObject({
        type: z.string(),
        status: z.enum(['True', 'False', 'Unknown']),
        reason: z.string(),
        message: z.string(),
        message_code: sentenceCode,
        message_params: sentenceParams,
      }),
    ),
    observed_at: z.iso.datetime(),
  })
  .meta({ id: 'ResourceState' })
