/** Accounts in responses. */

import type { z } from 'zod'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import type { UserDoc } from '../store/users.ts'
import type { user } from './account-schema.ts'

/** The account without its secrets. */
export function showUser(doc: UserDoc): z.input<typeof user> {
  return {
    object: 'user',
    id: doc._id,
    username: doc.username,
    email: doc.email ?? null,
    role: doc.role,
    status: doc.status,
    lang: doc.lang,
    // English is the default of new accounts.
    lang_chosen: doc.lang_chosen ?? doc.lang !== 'en',
    tz: doc.tz,
    recipients_per_day: doc.recipients_per_day ?? 0,
    managed_by: showManagedBy(doc.managed_by),
    created_at: doc.created_at.toISOString(),
  }
}

/** The Kubernetes resource that owns a record, or null. */
export function showManagedBy(ref: ManagedBy | undefined): { kind: string; namespace: string; name: string } | null {
  return ref ? { kind: ref.kind, namespace: ref.namespace, name: ref.name } : null
}
