/** The audit log: who changed what, append-only, kept for a year. */

import type { PageRequest } from '../../platform/cursor-pages.ts'
import { collectionOf, type Db, defineCollection } from '../../platform/database/mongo.ts'
import { readPage } from '../../platform/database/read-page.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'

/** Who did something. */
export interface AuditActor {
  /** Absent for the command line and the operator. */
  user_id?: string
  name: string
  via: 'session' | 'token' | 'legacy' | 'command' | 'operator'
  token_id?: string
  ip?: string
}

/** One entry. Secrets never; details only name what changed. */
export interface AuditDoc {
  _id: string
  /** The account whose thing was changed. */
  user_id: string
  actor: AuditActor
  /** `<thing>.<verb>`, as in `user.suspended`. */
  action: string
  target: { type: string; id: string; name?: string }
  at: Date
}

/** The collection of the audit log. */
export const auditLog = defineCollection<AuditDoc>('audit', [
  { key: { user_id: 1, _id: -1 } },
  { key: { at: 1 }, expireAfterSeconds: 365 * DAY_SECONDS },
])

/** Appends an entry. */
export async function recordAudit(db: Db, entry: Omit<AuditDoc, '_id' | 'at'>, now: Date): Promise<void> {
  await collectionOf(db, auditLog).insertOne({ _id: newId('aud', now.getTime()), ...entry, at: now })
}

/** A page, newest first; of one account, or of all when `userId` is undefined. */
export function listAudit(db: Db, userId: string | undefined, page: PageRequest): Promise<AuditDoc[]> {
  return readPage(collectionOf(db, auditLog), userId === undefined ? {} : { user_id: userId }, page, 'newest first')
}
