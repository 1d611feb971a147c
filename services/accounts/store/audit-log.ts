/** The audit log: who changed what, append-only, kept for a year. */

import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf } from '../../platform/database/models.ts'
import { readOrdered } from '../../platform/database/read-page.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import type { OrderedPage } from '../../platform/ordered-pages.ts'

/** One entry. Secrets never; details only name what changed. */
export const auditLog = defineModel('audit', {
  _id: field.text,
  /** The account whose thing was changed. */
  user_id: field.text,
  /** Who did it. */
  actor: field.required(
    field.part({
      /** Absent for the command line and the operator. `link`: who opened a link in a mail. `oidc`, `passkey`: who logged in with one. */
      user_id: field.optional(String),
      name: field.text,
      via: field.oneOf('session', 'token', 'legacy', 'command', 'operator', 'link', 'oidc', 'passkey'),
      token_id: field.optional(String),
      ip: field.optional(String),
    }),
  ),
  /** `<thing>.<verb>`, as in `user.suspended`. */
  action: field.text,
  target: field.required(field.part({ type: field.text, id: field.text, name: field.optional(String) })),
  at: field.date,
})
auditLog.schema.index({ user_id: 1, _id: -1 })
auditLog.schema.index({ at: 1 }, { expireAfterSeconds: 365 * DAY_SECONDS })

export type AuditDoc = DocumentOf<typeof auditLog>

/** Appends an entry. */
export async function recordAudit(db: Db, entry: Omit<AuditDoc, '_id' | 'at'>, now: Date): Promise<void> {
  await modelOf(db, auditLog).insertOne({ _id: newId('aud', now.getTime()), ...entry, at: now })
}

/** A page, newest first by default; of one account, or of all when `userId` is undefined. */
export function listAudit(
  db: Db,
  userId: string | undefined,
  page: Partial<OrderedPage> & { limit: number },
): Promise<AuditDoc[]> {
  const ordered: OrderedPage = { order: 'desc', fields: ['_id'], ...page }
  return readOrdered(modelOf(db, auditLog), userId === undefined ? {} : { user_id: userId }, ordered)
}
