/** Reads the audit log. */

import type { z } from 'zod'
import { bind, type createRouter } from '../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../platform/ordered-pages.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { type AuditDoc, listAudit } from '../store/audit-log.ts'
import { AUDIT_ORDERS, type auditEntry, listAuditLogs } from './accounts-contract.ts'
import type { Caller } from './audit-caller.ts'
import type { AccountsHttpDeps } from './deps.ts'

/** Mounts the audit log. */
export function mountAudit(router: ReturnType<typeof createRouter>, { mongo, authorise }: AccountsHttpDeps): void {
  bind(router, authorise, listAuditLogs, async ({ query }, caller) => {
    const rows = await listAudit(mongo.db, visible(caller, query.user_id), orderedPage(AUDIT_ORDERS, query))
    return toOrderedPage(AUDIT_ORDERS, query, rows, showEntry)
  })
}

/** The account whose entries are shown; undefined = all, for an admin who is logged in. Tokens see their own account. */
function visible({ account, via }: Caller, requested: string | undefined): string | undefined {
  if (account.role === 'admin' && via === 'session') return requested
  if (requested !== undefined && requested !== account.id)
    throw new ProblemError('not_found', sentence('detail.no_account'))
  return account.id
}

function showEntry({ _id, at, user_id, action, target, actor }: AuditDoc): z.input<typeof auditEntry> {
  return {
    object: 'audit_entry',
    id: _id,
    at: at.toISOString(),
    user_id,
    action,
    target: { type: target.type, id: target.id, name: target.name ?? null },
    actor: {
      user_id: actor.user_id ?? null,
      name: actor.name,
      via: actor.via,
      token_id: actor.token_id ?? null,
      ip: actor.ip ?? null,
    },
  }
}
