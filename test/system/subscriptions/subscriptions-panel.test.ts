/** The same operations under the panel's origin: session cookie, x-csrf for writes, and the same envelope. */
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
const panelRequest = (method: string, path: string, cookie: string, given: { body?: unknown; csrf?: string } = {}) =>
  request(`${url}/subscription-api`, method, path, {
    headers: { ...(cookie ? { cookie } : {}), ...(given.csrf ? { 'x-csrf': given.csrf } : {}), lang: 'en' },
    ...(given.body === undefined ? {} : { body: given.body }),
  })

test('an admin of the platform reads with the cookie, and writes with the cookie and x-csrf', async () => {
  const cookie = await cookieOf('boss')
  expect((await panelRequest('GET', '/token', cookie)).body.data.admin).toMatchObject({
    username: 'boss',
    role: 'super',
  })
  const body = { app_name: 'Shop', app_key: 'shop' }
  expect((await panelRequest('POST', '/app_manage', cookie, { body })).body.code).toBe(40302)
  expect((await panelRequest('POST', '/app_manage', cookie, { body, csrf: '1' })).status).toBe(200)
  expect((await panelRequest('GET', '/app_manage', cookie)).body.data.apps).toHaveLength(1)
})

test('requests without session, of a user and logins by password get error envelopes', async () => {
  expect((await panelRequest('GET', '/overview', '')).body.code).toBe(40101)
  expect((await panelRequest('GET', '/overview', await cookieOf('tenant'))).body.code).toBe(40303)
  const login = { username: 'boss', password: PASSWORD }
  expect((await panelRequest('POST', '/token', '', { body: login })).body.code).toBe(40501)
  expect((await panelRequest('GET', '/nowhere', '')).body.code).toBe(40400)
})
