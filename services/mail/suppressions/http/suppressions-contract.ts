/** The operations on the suppressions of an account. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import type { Access } from '../../http/shared/access.ts'
import { SUPPRESSION_ORIGINS, SUPPRESSION_REASONS } from '../rules/suppression.ts'
import { suppressedEmail, suppressedStream, suppressionInput } from '../rules/suppression-input.ts'

const READ: Access = { kind: 'account', scope: 'suppressions:read' }
const WRITE: Access = { kind: 'account', scope: 'suppressions:write' }
const time = z.iso.datetime()

/** Most entries that one batch adds, and most addresses that it removes. */
const BATCH = 1_000
/** Largest imported file, in bytes: more than a million addresses. */
export const IMPORT_BYTES = 64 * 1024 * 1024
/** Octets of a batch: its entries with notes. */
const BATCH_BYTES = 2 * 1024 * 1024

const CSV = { 'text/csv': { type: 'string' } } as const

/** A suppressed address. */
export const suppression = z
  .strictObject({
    object: z.literal('suppression'),
    id: z.string(),
    email: z.string(),
    stream: z.string().nullable().describe('null: all mail of the account.'),
    reason: z.enum(SUPPRESSION_REASONS),
    origin: z.enum(SUPPRESSION_ORIGINS),
    email_id: z.string().nullable().describe('The message that bounced, was complained about or unsubscribed from.'),
    detail: z.string().nullable(),
    expires_at: time.nullable(),
    created_at: time,
  })
  .meta({ id: 'Suppression' })

/** One address in a path, by its id or as it is; with a stream where the entry has one. */
const one = {
  params: z.strictObject({ id: z.string().min(1).max(320).describe('The id of the entry, or the address.') }),
  query: z.strictObject({ stream: suppressedStream }),
}

/** By time or by address; reasons and ends are in no index with the account. */
export const SUPPRESSION_ORDERS = listOrders('desc', { created_at: ['_id'], email: ['email', 'stream'] })

/** `GET /api/v1/suppressions`. */
export const listSuppressionsOperation = endpoint({
  operationId: 'listSuppressions',
  tag: 'Suppressions',
  method: 'GET',
  path: '/api/v1/suppressions',
  summary: 'Lists the addresses that the account sends nothing to, newest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(SUPPRESSION_ORDERS, {
    email: suppressedEmail.optional(),
    stream: suppressedStream.optional(),
    reason: z.enum(SUPPRESSION_REASONS).optional(),
  }),
  response: orderedPageOf(suppression),
})

/** `GET /api/v1/suppressions/{id}`. */
export const getSuppressionOperation = endpoint({
  operationId: 'getSuppression',
  tag: 'Suppressions',
  method: 'GET',
  path: '/api/v1/suppressions/{id}',
  summary: 'Whether an address is suppressed, and why.',
  access: READ,
  ...one,
  response: suppression,
})

/** `POST /api/v1/suppressions`. */
export const createSuppressionOperation = endpoint({
  operationId: 'createSuppression',
  tag: 'Suppressions',
  method: 'POST',
  path: '/api/v1/suppressions',
  summary: 'Suppresses an address; one that is listed for the stream gets the new reason and end.',
  access: WRITE,
  example: { body: { email: 'bob@example.net', reason: 'manual', detail: 'asked by phone' } },
  body: suppressionInput,
  status: 201,
  response: suppression,
})

/** `POST /api/v1/suppressions/batch`. */
export const changeSuppressionsOperation = endpoint({
  operationId: 'changeSuppressions',
  tag: 'Suppressions',
  method: 'POST',
  path: '/api/v1/suppressions/batch',
  summary: `Suppresses up to ${BATCH} addresses and removes up to ${BATCH} others, of every stream.`,
  access: WRITE,
  example: {
    body: { add: [{ email: 'bob@example.net', reason: 'unsubscribe', stream: 'bulk' }], remove: ['carol@example.net'] },
  },
  body: z.strictObject({
    add: z.array(suppressionInput).max(BATCH).default([]),
    remove: z.array(suppressedEmail).max(BATCH).default([]),
  }),
  bodyBytes: BATCH_BYTES,
  response: z.strictObject({
    object: z.literal('suppression_batch'),
    added: z.number().int(),
    updated: z.number().int(),
    removed: z.number().int(),
  }),
})

/** `DELETE /api/v1/suppressions/{id}`. */
export const deleteSuppressionOperation = endpoint({
  operationId: 'deleteSuppression',
  tag: 'Suppressions',
  method: 'DELETE',
  path: '/api/v1/suppressions/{id}',
  summary: 'Removes an entry, so that the address gets mail again.',
  access: WRITE,
  ...one,
  status: 204,
})

/** `POST /api/v1/suppressions/import`. */
export const importSuppressionsOperation = endpoint({
  operationId: 'importSuppressions',
  tag: 'Suppressions',
  method: 'POST',
  path: '/api/v1/suppressions/import',
  summary:
    'Adds the addresses of a CSV file, also of the export of another service: a column email, and if there are any reason, stream, expires_at, created_at and detail. Addresses that are listed stay as they are; rows that are not valid are reported and do not hold up the others.',
  access: WRITE,
  example: {
    content: {
      type: 'text/csv',
      text: 'email,reason,stream\nbob@example.net,unsubscribe,bulk\ncarol@example.net,hard_bounce,\n',
    },
  },
  requestContent: CSV,
  response: z.strictObject({
    object: z.literal('suppression_import'),
    total: z.number().int(),
    added: z.number().int(),
    listed: z.number().int().describe('Listed before; not changed.'),
    invalid: z.number().int(),
    errors: z
      .array(
        z.strictObject({
          row: z.number().int(),
          message: z.string(),
          message_code: sentenceCode,
          message_params: sentenceParams,
        }),
      )
      .describe('Of the first 50 rows that are not valid.'),
  }),
})

/** `GET /api/v1/suppressions/export`. */
export const exportSuppressionsOperation = endpoint({
  operationId: 'exportSuppressions',
  tag: 'Suppressions',
  method: 'GET',
  path: '/api/v1/suppressions/export',
  summary: 'All suppressions of the account as CSV, oldest first, in the columns that the import reads.',
  access: READ,
  responseContent: CSV,
})
