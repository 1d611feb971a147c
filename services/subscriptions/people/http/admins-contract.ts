/** Operations on administrators. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { SUPER } from '../../http/shared/access.ts'
import { params } from '../../http/shared/contract-fields.ts'
import { pagination } from '../../http/shared/wire-values.ts'
import { flag, text } from '../../rules/field-schemas.ts'
import { pageQuery } from '../../rules/paging.ts'
import { adminRecord } from './admin-schemas.ts'

const rights = {
  role: z.enum(['super', 'operator', 'viewer']),
  app_keys: z.array(z.string().trim().max(32)).max(500),
  name: text(0, 64),
  email: z.union([z.literal(''), z.email().max(254)], reason('field.email')),
}
/** Lists administrators. */
export const listAdminsOperation = endpoint({
  operationId: 'listAdmins',
  tag: 'Administrators',
  method: 'GET',
  path: '/admin',
  summary: 'Administrators, oldest first.',
  access: SUPER,
  query: z.object({ ...pageQuery }),
  response: z.object({ admins: z.array(adminRecord), pagination: pagination }),
})
/** Creates an administrator. */
export const createAdminOperation = endpoint({
  operationId: 'createAdmin',
  tag: 'Administrators',
  method: 'POST',
  path: '/admin',
  summary: 'Makes an account an administrator; creates the account when there is none of that name.',
  access: SUPER,
  example: {
    body: {
      username: 'bob',
      password: 'correct horse battery staple',
      role: 'operator',
      app_keys: ['demo'],
      name: 'Bob',
    },
  },
  body: z.object({
    username: text(1, 64),
    password: z.string().min(12).max(128),
    role: rights.role,
    app_keys: rights.app_keys.default([]),
    name: rights.name.default(''),
    email: rights.email.default(''),
  }),
  response: adminRecord,
})
/** Changes an administrator. */
export const updateAdminOperation = endpoint({
  operationId: 'updateAdmin',
  tag: 'Administrators',
  method: 'PUT',
  path: '/admin/{id}',
  summary: 'Changes rights and particulars of an administrator, or disables it.',
  access: SUPER,
  example: { body: { role: 'viewer', name: 'Bob' } },
  params,
  body: z.object({
    role: rights.role.optional(),
    app_keys: rights.app_keys.optional(),
    name: rights.name.optional(),
    email: rights.email.optional(),
    status: flag.optional(),
  }),
  response: adminRecord,
})
