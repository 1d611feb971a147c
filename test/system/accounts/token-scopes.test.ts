/** Calls each operation with every kind of restricted caller: authorization precedes validation and lookups. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Access, SCOPES, scopesFor } from '../../../services/mail/http/shared/access.ts'
import type { AnyEndpoint } from '../../../services/platform/http/endpoint.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { MAIL_OPERATIONS, type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

const API_TOKEN = 'the-old-token-of-the-configuration'
let api: PanelApi
let user: Awaited<ReturnType<PanelApi['newUser']>>['user']
beforeAll(async () => {
  api = await startPanelApi({ API_TOKEN, SEND_REQUESTS_PER_SECOND: '0', API_REQUESTS_PER_MINUTE: '0' })
  user = (await api.newUser({ role: 'admin' })).user // the account that API_TOKEN acts for
})
afterAll(() => api.stop())

type Row = readonly [key: string, operation: AnyEndpoint, access: Access]
const ROWS: readonly Row[] = MAIL_OPERATIONS.flatMap((operation): Row[] => {
  const access = operation.access as Access | { kind: 'public' }
  return access.kind === 'public' ? [] : [[`${operation.method} ${operation.path}`, operation, access]]
})
const BY_SCOPE = ROWS.filter(([, , { kind }]) => kind === 'account')
const BY_LOGIN = ROWS.filter(([, , { kind }]) => kind !== 'account')

/** Response to a call in which nothing is valid but the caller. */
async function callAs(client: ApiClient, { method, path }: AnyEndpoint): Promise<[number, string | undefined]> {
  const answer = await client.call(method, path.replaceAll(/\{\w+\}/g, 'x_1'), method === 'GET' ? undefined : {})
  return [answer.status, answer.body?.code]
}

test('the lists are not empty', () => {
  expect(BY_SCOPE.length).toBeGreaterThan(40)
  expect(BY_LOGIN.length).toBeGreaterThan(15)
})

test.each(BY_SCOPE)('%s: rejects a token that lacks one of the required scopes', async (_, operation, access) => {
  for (const needed of access.kind === 'account' ? scopesFor(access) : []) {
    const client = await api.withToken(user, { scopes: SCOPES.filter(scope => scope !== needed) })
    expect(await callAs(client, operation)).toEqual([403, 'insufficient_scope'])
  }
})

test('operations that return the password of an SMTP login require the scope emails:send', () => {
  const withPassword = BY_SCOPE.filter(
    ([, { response }]) => response instanceof z.ZodObject && 'password' in response.shape,
  )
  expect(withPassword.map(([key, , access]) => [key, access.kind === 'account' && scopesFor(access)])).toEqual([
    ['POST /api/v1/smtp-credentials', ['smtp:write', 'emails:send']],
    ['PUT /api/v1/smtp-credentials/{id}/password', ['smtp:write', 'emails:send']],
  ])
})

test.each(BY_LOGIN)('%s: rejects a token with every scope', async (_, operation) => {
  expect(await callAs(await api.withToken(user, { scopes: [...SCOPES] }), operation)).toEqual([403, 'forbidden'])
})

describe('API_TOKEN', () => {
  test('is meant for the two sending operations', () => {
    const legacy = ROWS.filter(([, , access]) => access.kind === 'account' && access.legacy)
    expect(legacy.map(([key]) => key).toSorted()).toEqual(['POST /api/send', 'POST /api/v1/emails'])
  })

  test.each(ROWS)('%s', async (_, operation, access) => {
    const answer = await callAs(api.anonymous.with({ authorization: `Bearer ${API_TOKEN}` }), operation)
    const open = access.kind === 'account' && access.legacy
    expect(answer).toEqual(open ? [422, 'validation_failed'] : [403, 'insufficient_scope'])
  })
})

test.each(ROWS)('%s: rejects an expired token and one of another network', async (_, operation) => {
  const over = await api.withToken(user, { scopes: [...SCOPES], expires_at: new Date('2020-01-01T00:00:00Z') })
  expect(await callAs(over, operation)).toEqual([401, 'invalid_token'])
  const elsewhere = await api.withToken(user, { scopes: [...SCOPES], allowed_cidrs: ['192.0.2.0/24'] })
  expect(await callAs(elsewhere, operation)).toEqual([403, 'network_not_allowed'])
})

test.each(ROWS.filter(([, { method }]) => method !== 'GET'))(
  '%s: rejects a session without the header x-csrf',
  async (_, operation) => {
    const client = (await api.as(user)).with({ 'x-csrf': '' })
    expect(await callAs(client, operation)).toEqual([403, 'csrf_header_missing'])
  },
)
