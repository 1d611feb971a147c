/** The audit log. */
import type Router from '@koa/router'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { may } from '../../people/rules/admin-rights.ts'
import { pagination } from '../../rules/paging.ts'
import { listAudit } from '../store/audit-log.ts'
import { auditLog } from './audit-contract.ts'

/** Mounts `GET /audit_log`. Entries that belong to no app are shown to super administrators only. */
export function mountAudit(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, auditLog, async ({ query }, { admin, appKey, appKeys }) => {
    const page = requestedPage(query)
    const everything = appKey === '' && may(admin, 'super')
    const filter = {
      appKeys: everything ? undefined : appKeys,
      targetKind: query.target_kind,
      targetId: query.target_id,
      action: query.action,
      actor: query.actor,
      userId: query.user_id,
    }
    const found = await listAudit(subscriptions.collections, filter, page)
    return {
      audit_logs: found.items.map(entry => ({
        id: String(entry._id),
        app_key: entry.app_key,
        actor_kind: entry.actor.kind,
        actor_id: entry.actor.id,
        actor_name: entry.actor.name,
        action: entry.action,
        target_kind: entry.target.kind,
        target_id: entry.target.id,
        changes: entry.changes,
        reason: entry.reason ?? '',
        request_id: entry.request_id,
        ip: entry.ip,
        created_at: subscriptions.zone.format(entry.at),
      })),
      pagination: pagination(page, found),
    }
  })
}
