/** Saved views of the message log: filters that a user keeps under a name, for one account. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import type { Access } from '../../http/shared/access.ts'
import { recordParams } from '../../http/shared/records.ts'
import { messageFilters } from './list-contract.ts'

const OWN: Access = { kind: 'member', role: 'viewer' }

/** Views that one user may have in one account. */
export const VIEWS_MOST = 30

/** Days that a period may begin before now. */
const DAYS = z.number().int().min(1).max(365)

/** What a view narrows the log to. `days` is a period that ends now. */
const viewFilters = messageFilters.extend({ days: DAYS.optional() })

/** A saved view. */
export const messageView = z
  .strictObject({
    object: z.literal('message_view'),
    id: z.string(),
    name: z.string(),
    filters: viewFilters,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'MessageView' })

/** `GET /api/v1/me/message-views`. */
export const listMessageViews = endpoint({
  operationId: 'listMessageViews',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/me/message-views',
  summary: 'The saved views of the message log that the user has in this account, by name.',
  access: OWN,
  response: z.strictObject({ object: z.literal('list'), data: z.array(messageView), has_more: z.boolean() }),
})

/** `POST /api/v1/me/message-views`. */
export const createMessageView = endpoint({
  operationId: 'createMessageView',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/me/message-views',
  summary: 'Saves filters under a name. A view with that name is replaced. A user has at most 30 views in an account.',
  access: OWN,
  example: { body: { name: 'Bounces of this week', filters: { status: 'bounced', days: 7 } } },
  body: z.strictObject({ name: z.string().trim().min(1).max(60), filters: viewFilters }),
  status: 201,
  response: messageView,
})

/** `DELETE /api/v1/me/message-views/{id}`. */
export const deleteMessageView = endpoint({
  operationId: 'deleteMessageView',
  tag: 'Emails',
  method: 'DELETE',
  path: '/api/v1/me/message-views/{id}',
  summary: 'Removes a saved view of the user.',
  access: OWN,
  params: recordParams,
  status: 204,
})
