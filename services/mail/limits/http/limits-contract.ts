/** The operations on limits of sending. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, recordParams } from '../../http/shared/records.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }
/** A token must not raise its own limit. */
const SESSION: Access = { kind: 'member', role: 'admin' }
const ADMIN: Access = { kind: 'admin' }

const scopes = ['account', 'credential', 'domain', 'destination'] as const
const recipients = z.int().min(1).max(1_000_000_000).nullable()

const amounts = {
  recipients_per_second: z.number().min(0.01).max(100_000).nullable(),
  /** Recipients that may come at once; null: as many as a second allows, and at least one. */
  burst: z.int().min(1).max(1_000_000).nullable(),
  /** Of destinations: recipients that are tried in a minute. */
  recipients_per_minute: z.number().min(0.1).max(10_000_000).nullable(),
  /** In a clock hour, UTC. */
  recipients_per_hour: recipients,
  /** From 00:00 UTC. */
  recipients_per_day: recipients,
}

const wish = {
  /** Id of the login or token; id or name of the domain; provider or domain of the recipients, or `*`. */
  subject: z.string().trim().min(1).max(255).meta({ pattern: '\\S' }),
  recipients_per_second: amounts.recipients_per_second.default(null),
  burst: amounts.burst.default(null),
  recipients_per_minute: amounts.recipients_per_minute.default(null),
  recipients_per_hour: amounts.recipients_per_hour.default(null),
  recipients_per_day: amounts.recipients_per_day.default(null),
}

/** A limit and what is left of it. */
export const sendingLimit = z
  .strictObject({
    object: z.literal('sending_limit'),
    scope: z.enum(scopes),
    subject: z.string(),
    name: z.string(),
    set_by: z.enum(['owner', 'admin', 'settings']),
    recipients_per_second: z.number().nullable(),
    burst: z.int().nullable(),
    recipients_per_minute: z.number().nullable(),
    recipients_per_hour: z.int().nullable(),
    recipients_per_day: z.int().nullable(),
    /** Recipients that could come, or be tried, at once now. */
    available: z.int().nullable(),
    used_this_hour: z.int().nullable(),
    used_today: z.int().nullable(),
    /** The Kubernetes resource that declares it, and changes it. */
    managed_by: managedBy.nullable(),
  })
  .meta({ id: 'SendingLimit' })

const list = z.strictObject({ object: z.literal('list'), data: z.array(sendingLimit), has_more: z.literal(false) })

/** `GET /api/v1/sending-limits`. */
export const listLimitsOperation = endpoint({
  operationId: 'listSendingLimits',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/sending-limits',
  summary: 'The limits of sending of the account, its logins, domains and destinations, and what is left of them.',
  access: READ,
  response: list,
})

/** `PUT /api/v1/sending-limits`. */
export const putLimitOperation = endpoint({
  operationId: 'setSendingLimit',
  tag: 'Reports',
  method: 'PUT',
  path: '/api/v1/sending-limits',
  summary:
    'Sets the limit of a login, domain or destination of the account, within those of the account; without any amount it is removed. Limits count recipients.',
  access: SESSION,
  example: { body: { scope: 'destination', subject: 'example.net', recipients_per_minute: 60 } },
  body: z.strictObject({ scope: z.enum(['credential', 'domain', 'destination']), ...wish }),
  response: list,
})

/** `GET /api/v1/admin/users/{id}/sending-limits`. */
export const listUserLimitsOperation = endpoint({
  operationId: 'listUserSendingLimits',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/admin/users/{id}/sending-limits',
  summary: 'The limits of sending of an account, and what is left of them.',
  access: ADMIN,
  params: recordParams,
  response: list,
})

/** `PUT /api/v1/admin/users/{id}/sending-limits`. */
export const putUserLimitOperation = endpoint({
  operationId: 'setUserSendingLimit',
  tag: 'Users',
  method: 'PUT',
  path: '/api/v1/admin/users/{id}/sending-limits',
  summary:
    'Sets a limit of an account (`subject` is ignored) or of its mail to a destination, which its owner cannot raise; without any amount it is removed.',
  access: ADMIN,
  example: { body: { scope: 'account', recipients_per_second: 20, burst: 100 } },
  params: recordParams,
  body: z.strictObject({
    scope: z.enum(['account', 'destination']),
    ...wish,
    subject: wish.subject.default('*'),
  }),
  response: list,
})
