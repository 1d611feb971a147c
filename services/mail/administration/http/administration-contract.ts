/** The operations of the operator's area: sending addresses, certificates, resources, another try for a destination. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, resourceState } from '../../http/shared/records.ts'

const ADMIN: Access = { kind: 'admin' }
const time = z.iso.datetime()
const texts = z.array(z.string())
const status = z.enum(['ok', 'warning', 'failing'])

/** `GET /api/v1/admin/sending-addresses`. */
export const getSendingAddresses = endpoint({
  operationId: 'getSendingAddresses',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/sending-addresses',
  summary:
    'Each address of SENDING_IP: its reverse DNS name and its blocklist entries. Remembered for 10 minutes, unless fresh=true.',
  access: ADMIN,
  query: z.strictObject({
    fresh: z
      .stringbool()
      .meta({ enum: ['true', 'false', '1', '0'] })
      .default(false),
  }),
  response: z.strictObject({
    object: z.literal('sending_addresses'),
    /** The name in the greeting of the server; the reverse DNS names should equal it. */
    hostname: z.string(),
    checked_at: time,
    data: z.array(
      z.strictObject({
        address: z.string(),
        status,
        ptr: z.strictObject({
          status: z.enum(['ok', 'missing', 'other_name', 'not_confirmed', 'unknown']),
          names: texts,
        }),
        blocklists: z.array(
          z.strictObject({
            zone: z.string(),
            /** `refused`: the list does not answer the resolver that was asked. */
            status: z.enum(['clear', 'listed', 'refused', 'unknown']),
            codes: texts,
            /** The text of the list (`text.verbatim`), or why it did not answer. */
            reason: z.string().nullable(),
            reason_code: sentenceCode.nullable(),
            reason_params: sentenceParams.nullable(),
          }),
        ),
      }),
    ),
  }),
})

/** `GET /api/v1/admin/certificates`. */
export const listCertificates = endpoint({
  operationId: 'listCertificates',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/certificates',
  summary: 'The TLS certificates that the SMTP processes serve, the one that ends first in front.',
  access: ADMIN,
  response: z.strictObject({
    object: z.literal('list'),
    /** The host name that clients connect to. */
    host: z.string(),
    data: z.array(
      z.strictObject({
        fingerprint: z.string(),
        names: texts,
        issuer: z.string(),
        key: z.string(),
        not_before: time,
        not_after: time,
        /** Path in the container or on the machine of the SMTP process. */
        file: z.string(),
        seen_at: time,
        status,
        faults: z.array(
          z.enum([
            'expired',
            'not_yet_valid',
            'expires_soon',
            'expires_in_weeks',
            'name_missing',
            'self_signed',
            'weak_key',
          ]),
        ),
      }),
    ),
    has_more: z.literal(false),
  }),
})

/** `GET /api/v1/admin/resources`. */
export const listResources = endpoint({
  operationId: 'listResources',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/resources',
  summary: 'The Kubernetes resources that own records of the mail module, with their conditions.',
  access: ADMIN,
  response: z.strictObject({
    object: z.literal('list'),
    data: z.array(
      z.strictObject({
        resource: managedBy,
        record: z.strictObject({
          type: z.enum(['domain', 'dns_account', 'credential', 'token', 'template', 'webhook']),
          id: z.string(),
          name: z.string(),
          user_id: z.string(),
        }),
        /** Null until the operator has looked at it. */
        state: resourceState.nullable(),
      }),
    ),
    has_more: z.boolean(),
  }),
})

/** `POST /api/v1/admin/queues/retry`. */
export const retryQueueOperation = endpoint({
  operationId: 'retryQueue',
  tag: 'Operator',
  method: 'POST',
  path: '/api/v1/admin/queues/retry',
  summary:
    'Lets everything that waits for another attempt at a destination be tried now. A pause that the destination asked for goes on.',
  access: ADMIN,
  example: { body: { site: 'example.net' } },
  body: z.strictObject({ site: z.string().trim().toLowerCase().min(1).max(255).meta({ pattern: '\\S' }) }),
  response: z.strictObject({ object: z.literal('queue_retry'), site: z.string(), retried: z.number().int() }),
})
