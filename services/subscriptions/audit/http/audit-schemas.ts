/** Audit log entries on the wire. */
import { z } from 'zod'
import { dateTime, digits } from '../../http/shared/wire-values.ts'

export const auditEntry = z
  .object({
    id: digits,
    app_key: z.string(),
    actor_kind: z.string(),
    actor_id: z.string(),
    actor_name: z.string(),
    action: z.string(),
    target_kind: z.string(),
    target_id: z.string(),
    changes: z.record(z.string(), z.array(z.unknown())),
    /** Given with an action on a subscription; empty where none was. */
    reason: z.string(),
    request_id: z.string(),
    ip: z.string(),
    created_at: dateTime,
  })
  .meta({ id: 'AuditEntry' })
