/** Operations on the end users of an app. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { EDIT, VIEW } from '../../http/shared/access.ts'
import { appKey, CSV, params } from '../../http/shared/contract-fields.ts'
import { empty } from '../../http/shared/wire-values.ts'
import { choice, text } from '../../rules/field-schemas.ts'
import { cursorQuery, dateQuery, pageQuery } from '../../rules/paging.ts'
import { userList, userRecord } from './end-user-schemas.ts'

const userQuery = {
  /** As long as the longest identity. */
  search: text(0, 128).optional(),
  status: choice(['0', '1', '2']).optional(),
  platform: text(0, 32).optional(),
  ...dateQuery,
}
/** Lists users. */
export const listUsersOperation = endpoint({
  operationId: 'listUsers',
  tag: 'Users',
  method: 'GET',
  path: '/user',
  summary:
    'Users of an app, newest first or, with order=asc, oldest first; search finds nicknames, phones and emails by their beginning, and one user by its id, openid or unionid.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({
    ...{ app_key: appKey, ...userQuery, ...pageQuery, ...cursorQuery },
    order: z.enum(['desc', 'asc']).default('desc').describe('By the time of creation.'),
  }),
  response: userList,
})
/** Exports users. */
export const exportUsers = endpoint({
  operationId: 'exportUsers',
  tag: 'Users',
  method: 'GET',
  path: '/user/export',
  summary: 'The same users as CSV.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({ app_key: appKey, ...userQuery }),
  responseContent: CSV,
})
/** One user. */
export const getUserOperation = endpoint({
  operationId: 'getUser',
  tag: 'Users',
  method: 'GET',
  path: '/user/{id}',
  summary: 'One user, in the shape of the list.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: userList,
})
/** Changes a user. */
export const updateUserOperation = endpoint({
  operationId: 'updateUser',
  tag: 'Users',
  method: 'PUT',
  path: '/user/{id}',
  summary: 'Disables a user (0), allows it again (1) or marks it for deletion (2).',
  access: EDIT,
  example: { query: { app_key: 'demo' }, body: { status: '0' } },
  params,
  query: z.object({ app_key: appKey }),
  body: z.object({ status: choice(['0', '1', '2']) }),
  response: userRecord,
})
/** Erases a user. */
export const eraseUserOperation = endpoint({
  operationId: 'eraseUser',
  tag: 'Users',
  method: 'DELETE',
  path: '/user/{id}',
  summary: 'Erases what names the person; payments stay.',
  access: EDIT,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: empty,
})
