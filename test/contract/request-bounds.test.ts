/** Every list and record in a request has a bound: without one a small body could take seconds. */
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { emailRequest } from '../../services/mail/submission/rules/email-request.ts'
import type { AnyEndpoint } from '../../services/platform/http/endpoint.ts'
import { operationsOf } from '../../services/platform/http/openapi.ts'
import { boundOf, partsOf } from '../../services/platform/json/bounded-validation.ts'
import * as appsContract from '../../services/subscriptions/catalogue/http/apps-contract.ts'
import * as contract from '../../services/subscriptions/http/admin-contract.ts'
import * as serverContract from '../../services/subscriptions/http/server-contract.ts'
import { MAIL_OPERATIONS } from '../support/http/panel-api.ts'

const OPERATIONS: readonly AnyEndpoint[] = [
  ...MAIL_OPERATIONS,
  ...operationsOf(contract),
  ...operationsOf(appsContract),
  ...operationsOf(serverContract),
]

/** Paths of lists and records without a bound. */
function unbounded(schema: z.core.$ZodType, path: string, seen = new Set<z.core.$ZodType>()): string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const { type } = schema._zod.def
  const own = (type === 'array' || type === 'record') && boundOf(schema) === undefined ? [`${path} (${type})`] : []
  return [...own, ...partsOf(schema).flatMap((part, n) => unbounded(part, `${path}/${n}`, seen))]
}

test('every list and record in a request schema has a bound', () => {
  const schemas = OPERATIONS.flatMap(({ method, path, params, query, body }) =>
    [params, query, body].flatMap(schema => (schema ? [{ name: `${method} ${path}`, schema }] : [])),
  )
  expect(schemas.length).toBeGreaterThan(80)
  const found = [...schemas, { name: 'message', schema: emailRequest }].flatMap(({ name, schema }) =>
    unbounded(schema, name),
  )
  expect(found).toEqual([])
})

test('a login body may have 4 KiB', () => {
  const logins = OPERATIONS.filter(({ method, path }) => method === 'POST' && /\/(?:session|token)$/.test(path))
  expect(logins.map(({ path, bodyBytes }) => [path, bodyBytes])).toEqual([
    ['/api/v1/session', 4_096],
    ['/token', 4_096],
  ])
})
