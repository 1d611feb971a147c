/** The same operations below the panel's origin: by the session cookie, writes with x-csrf, the envelope unchanged. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { panel } from '../../../services/panel.ts'
import { freshDatabase, type TestDatabase } from '../../support/database/test-database.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { request } from '../../support/subscriptions/subscription-api.ts'

const PASSWORD = 'correct horse battery'
let mongo: TestDatabase
let running: Awaited<ReturnType<typeof panel>>
let url: string
beforeAll(async () => {
  mongo = await freshDatabase()
  const foundation = testFoundation(mongo)
  for (const [username, role] of [
    ['boss', 'admin'],
    ['tenant', 'user'],
  ] as const)
    await createUser(foundation, { username, password: PASSWORD, role, lang: 'en', tz: 'UTC' })
  running = await panel(foundation)
  url = `http://127.0.0.1:${running.port}`
})
afterAll(async () => {
  await running.stop()
  await mongo.stop()
})

async function cookieOf(username: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORD }),
  })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}
const below = (method: string, path: string, cookie: string, given: { body?: unknown; csrf?: string } = {}) =>
  request(`${url}/subscription-api`, method, path, {
    headers: { ...(cookie ? { cookie } : {}), ...(given.csrf ? { 'x-csrf': given.csrf } : {}), lang: 'en' },
    ...(given.body === undefined ? {} : { body: given.body }),
  })

test('an admin of the platform reads and writes with the cookie alone, writes only with x-csrf', async () => {
  const cookie = await cookieOf('boss')
  expect((await below('GET', '/token', cookie)).body.data.admin).toMatchObject({ username: 'boss', role: 'super' })
  const body = { app_name: 'Shop', app_key: 'shop' }
  expect((await below('POST', '/app_manage', cookie, { body })).body.code).toBe(40302)
  expect((await below('POST', '/app_manage', cookie, { body, csrf: '1' })).status).toBe(200)
  expect((await below('GET', '/app_manage', cookie)).body.data.apps).toHaveLength(1)
})

test('nobody, a tenant, and login by password get envelopes that say no', async () => {
  expect((await below('GET', '/overview', '')).body.code).toBe(40101)
  expect((await below('GET', '/overview', await cookieOf('tenant'))).body.code).toBe(40303)
  const login = { username: 'boss', password: PASSWORD }
  expect((await below('POST', '/token', '', { body: login })).body.code).toBe(40501)
  expect((await below('GET', '/nowhere', '')).body.code).toBe(40400)
})
