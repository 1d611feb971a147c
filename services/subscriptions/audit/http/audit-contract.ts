/** The operation that reads the audit log. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { VIEW_APPS } from '../../http/shared/access.ts'
import { appKey } from '../../http/shared/contract-fields.ts'
import { pagination } from '../../http/shared/wire-values.ts'
import { id, text } from '../../rules/field-schemas.ts'
import { cursorQuery, pageQuery } from '../../rules/paging.ts'
import { auditEntry } from './audit-schemas.ts'

/** Reads the audit log. */
export const auditLog = endpoint({
  operationId: 'listAuditLogs',
  tag: 'Audit log',
  method: 'GET',
  path: '/audit_log',
  summary: 'Who did what, newest first.',
  access: VIEW_APPS,
  query: z.object({
    app_key: appKey.optional(),
    target_kind: text(0, 32).optional(),
    target_id: text(0, 64).optional(),
    action: text(0, 64).optional(),
    actor: text(0, 64).optional(),
    user_id: id.optional().describe('Changes of an end user and of its subscriptions.'),
    ...pageQuery,
    ...cursorQuery,
  }),
  response: z.object({ audit_logs: z.array(auditEntry), pagination: pagination }),
})
