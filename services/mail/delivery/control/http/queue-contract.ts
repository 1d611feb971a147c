/** The operations on waiting mail: hold, release, try now, cancel. */
import { z } from 'zod'
import { endpoint } from '../../../../platform/http/endpoint.ts'
import type { Access } from '../../../http/shared/access.ts'
import { recordParams } from '../../../http/shared/records.ts'
import { instant } from '../../../submission/rules/email-parts.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }
const WRITE: Access = { kind: 'account', scope: 'emails:send' }
const ADMIN: Access = { kind: 'admin' }
const time = z.iso.datetime()
const scope = z.enum(['account', 'domain', 'destination', 'message'])
/** Id of the account or message, id or name of the sending domain, provider or domain of the recipients. */
const value = z.string().trim().min(1).max(255).meta({ pattern: '\\S' })
const userId = z.string().min(1).max(128)

const by = z.strictObject({ name: z.string(), admin: z.boolean() })
const selected = {
  id: z.string(),
  user_id: z.string().nullable(),
  scope,
  value: z.string(),
  /** Of the value, for people. */
  name: z.string(),
  by,
  created_at: time,
}

/** A hold. */
export const queueHold = z
  .strictObject({
    object: z.literal('queue_hold'),
    ...selected,
    reason: z.string(),
    until: time.nullable(),
    /** `releasing`: mail is being given back. */
    state: z.enum(['active', 'releasing', 'ended']),
    /** Recipients that wait for its end, at most 100,000; mail joins when it is due. */
    held: z.int(),
  })
  .meta({ id: 'QueueHold' })

/** An action on much mail. */
export const queueAction = z
  .strictObject({
    object: z.literal('queue_action'),
    ...selected,
    action: z.enum(['cancel', 'retry']),
    /** Recipients that were looked at, and that were canceled or made due. */
    scanned: z.int(),
    done: z.int(),
    finished_at: time.nullable(),
  })
  .meta({ id: 'QueueAction' })

const list = <T extends z.ZodType>(item: T) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.literal(false) })
const holdBody = {
  scope,
  value,
  reason: z.string().trim().min(1).max(500).meta({ pattern: '\\S' }),
  until: instant.nullable().default(null),
}
const actionBody = { action: z.enum(['cancel', 'retry']), scope, value }

const counted = z.strictObject({
  object: z.literal('count'),
  name: z.string().describe('Of the account, domain, destination or message, for people.'),
  count: z.int(),
  more: z.boolean().describe('There may be further ones: the queue is longer than the 20,000 recipients looked at.'),
})

/** `GET /api/v1/queue/count`. */
export const countQueueOperation = endpoint({
  operationId: 'countQueue',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/queue/count',
  summary: 'How many messages of the account wait that an action on this mail would be about.',
  access: READ,
  example: { query: { scope: 'destination', value: 'example.net' } },
  query: z.strictObject({ scope, value }),
  response: counted,
})

/** `GET /api/v1/admin/queue/count`. */
export const countAnyQueueOperation = endpoint({
  operationId: 'countAnyQueue',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/queue/count',
  summary: 'How many messages of any account wait that an action on this mail would be about.',
  access: ADMIN,
  example: { query: { scope: 'destination', value: 'example.net' } },
  query: z.strictObject({ scope, value, user_id: userId.optional() }),
  response: counted,
})

/** `GET /api/v1/queue/holds`. */
export const listHoldsOperation = endpoint({
  operationId: 'listQueueHolds',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/queue/holds',
  summary: 'The holds on mail of the account, newest first; those that ended stay for a day.',
  access: READ,
  response: list(queueHold),
})

/** `POST /api/v1/queue/holds`. */
export const createHoldOperation = endpoint({
  operationId: 'holdMail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/queue/holds',
  summary:
    'Holds mail of the account, also what is accepted later, until it is released. Lifetimes go on: held mail expires.',
  access: WRITE,
  example: { body: { scope: 'destination', value: 'example.net', reason: 'Their servers are being moved.' } },
  body: z.strictObject(holdBody),
  status: 201,
  response: queueHold,
})

/** `DELETE /api/v1/queue/holds/{id}`. */
export const releaseHoldOperation = endpoint({
  operationId: 'releaseMail',
  tag: 'Emails',
  method: 'DELETE',
  path: '/api/v1/queue/holds/{id}',
  summary: 'Releases held mail. A hold of an admin is released by an admin.',
  access: WRITE,
  params: recordParams,
  status: 204,
})

/** `GET /api/v1/queue/actions`. */
export const listActionsOperation = endpoint({
  operationId: 'listQueueActions',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/queue/actions',
  summary: 'The last 50 actions on waiting mail of the account, with their progress.',
  access: READ,
  response: list(queueAction),
})

/** `POST /api/v1/queue/actions`. */
export const createActionOperation = endpoint({
  operationId: 'actOnQueue',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/queue/actions',
  summary:
    'Cancels waiting mail of the account, or lets what waits for another attempt be tried now, in the background.',
  access: WRITE,
  example: { body: { action: 'retry', scope: 'destination', value: 'example.net' } },
  body: z.strictObject(actionBody),
  status: 202,
  response: queueAction,
})

/** `GET /api/v1/admin/queue/holds`. */
export const listAllHoldsOperation = endpoint({
  operationId: 'listAllQueueHolds',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/queue/holds',
  summary: 'All holds, newest first; those that ended stay for a day.',
  access: ADMIN,
  response: list(queueHold),
})

/** `POST /api/v1/admin/queue/holds`. */
export const createAnyHoldOperation = endpoint({
  operationId: 'holdAnyMail',
  tag: 'Operator',
  method: 'POST',
  path: '/api/v1/admin/queue/holds',
  summary: 'Holds mail of any account, or of all; only an admin releases it.',
  access: ADMIN,
  example: { body: { scope: 'destination', value: 'example.net', reason: 'Their servers are being moved.' } },
  body: z.strictObject({ ...holdBody, user_id: userId.optional() }),
  status: 201,
  response: queueHold,
})

/** `DELETE /api/v1/admin/queue/holds/{id}`. */
export const releaseAnyHoldOperation = endpoint({
  operationId: 'releaseAnyMail',
  tag: 'Operator',
  method: 'DELETE',
  path: '/api/v1/admin/queue/holds/{id}',
  summary: 'Releases held mail of any account.',
  access: ADMIN,
  params: recordParams,
  status: 204,
})

/** `GET /api/v1/admin/queue/actions`. */
export const listAllActionsOperation = endpoint({
  operationId: 'listAllQueueActions',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/queue/actions',
  summary: 'The last 50 actions on waiting mail, with their progress.',
  access: ADMIN,
  response: list(queueAction),
})

/** `POST /api/v1/admin/queue/actions`. */
export const createAnyActionOperation = endpoint({
  operationId: 'actOnAnyQueue',
  tag: 'Operator',
  method: 'POST',
  path: '/api/v1/admin/queue/actions',
  summary: 'Cancels waiting mail of any account, or lets it be tried now, in the background.',
  access: ADMIN,
  example: { body: { action: 'retry', scope: 'destination', value: 'example.net' } },
  body: z.strictObject({ ...actionBody, user_id: userId.optional() }),
  status: 202,
  response: queueAction,
})
