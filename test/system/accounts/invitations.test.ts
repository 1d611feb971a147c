/** Invitations by mail: sent, accepted once, sent again, revoked. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OutgoingAccountMail, sendAccountMails } from '../../../services/accounts/send-account-mails.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { invitations } from '../../../services/accounts/store/invitations.ts'
import { findUserByName } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { createLog } from '../../../services/platform/observability/log.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const DAY = 86_400_000
let api: PanelApi
let clock: TestClock
let admin: ApiClient
let adminName: string
let outbox: OutgoingAccountMail[]
let count = 0
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({}, clock)
  await renew()
})
afterAll(() => api.stop())
beforeEach(() => {
  outbox = []
})

/** Sessions end while the clock of the tests advances. */
async function renew() {
  const made = await api.newUser({ role: 'admin' })
  admin = made.client
  adminName = made.user.username
}

function work() {
  const send = async (mail: OutgoingAccountMail) => void outbox.push(mail)
  const deps = { mongo: api.mongo, secrets: api.secrets, clock, log: createLog('silent', 'test'), baseUrl: 'http://p' }
  return sendAccountMails({ ...deps, send, mayMail: async () => true }, new AbortController().signal)
}
const newAddress = () => `guest${++count}@example.net`
const lastToken = () => /\/accept-invitation#([\w-]{43})\n/.exec(outbox.at(-1)?.text ?? '')?.[1] ?? 'no token'
const accept = (token: string, username = `guest-${++count}`, more = {}) =>
  api.anonymous.post('/api/v1/session/invitation/accept', { token, username, password: 'chosen password', ...more })
async function invited(body: object = {}) {
  const email = newAddress()
  const answer = await admin.post('/api/v1/admin/invitations', { email, ...body })
  expect(answer).toMatchObject({ status: 201, body: { email, status: 'waiting', invited_by: adminName } })
  await work()
  return { id: answer.body.id as string, email, token: lastToken() }
}

test('an invited person chooses a name and a password, and is logged in with the role and a confirmed address', async () => {
  const { email, token, id } = await invited({ role: 'admin', lang: 'zh' })
  expect(outbox).toMatchObject([{ to: email, subject: '邀请您使用 Postwright' }])
  expect(outbox[0]?.text).toContain(adminName)
  expect(await api.anonymous.post('/api/v1/session/invitation', { token })).toMatchObject({
    status: 200,
    body: { email, role: 'admin', lang: 'zh', invited_by: adminName },
  })
  const answer = await accept(token, 'Chosen', { tz: 'Asia/Shanghai' })
  expect(answer).toMatchObject({
    status: 201,
    body: { user: { username: 'chosen', role: 'admin', email, lang: 'zh' } },
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  expect((await api.anonymous.with({ cookie }).get('/api/v1/admin/users')).status).toBe(200)
  expect(
    (await api.anonymous.post('/api/v1/session', { username: 'chosen', password: 'chosen password' })).status,
  ).toBe(200)
  const list = await admin.get('/api/v1/admin/invitations')
  expect(list.body.data.map((one: { id: string }) => one.id)).not.toContain(id)
  const user = await findUserByName(api.db, 'chosen')
  const [entry] = (await listAudit(api.db, user?._id, { limit: 9 })).filter(one => one.action === 'invitation.accepted')
  expect(entry?.actor).toMatchObject({ name: 'chosen', via: 'link' })
})

test('of parallel uses of a link exactly one makes an account', async () => {
  const { token } = await invited()
  const answers = await Promise.all([1, 2, 3, 4, 5].map(n => accept(token, `parallel-${n}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410, 410])
  const made = await Promise.all([1, 2, 3, 4, 5].map(n => findUserByName(api.db, `parallel-${n}`)))
  expect(made.filter(Boolean)).toHaveLength(1)
})

test('a name that is taken costs no invitation', async () => {
  const { user } = await api.newUser()
  const { token } = await invited()
  expect(await accept(token, user.username)).toMatchObject({
    status: 409,
    body: { detail_code: 'detail.account_exists' },
  })
  expect((await accept(token)).status).toBe(201)
})

test.each<[string, (given: { id: string; token: string }) => Promise<unknown>]>([
  ['was accepted', ({ token }) => accept(token)],
  ['was revoked', ({ id }) => admin.call('DELETE', `/api/v1/admin/invitations/${id}`)],
  [
    'was sent again',
    async ({ id }) => {
      expect((await admin.post(`/api/v1/admin/invitations/${id}/resend`)).status).toBe(200)
      await work()
      expect(outbox).toHaveLength(2)
    },
  ],
  [
    'is 7 days old',
    async () => {
      clock.advance(7 * DAY)
      await renew()
    },
  ],
])('a link that %s makes no account', async (_, change) => {
  const given = await invited()
  await change(given)
  expect(await accept(given.token, `late-${++count}`)).toMatchObject({ status: 410, body: { code: 'link_invalid' } })
  expect(await findUserByName(api.db, `late-${count}`)).toBeUndefined()
})

test('an expired invitation is listed, and works again once it is sent again', async () => {
  const { id, email } = await invited()
  clock.advance(8 * DAY)
  await renew()
  const { body } = await admin.get('/api/v1/admin/invitations?limit=100')
  expect(body.data).toContainEqual(expect.objectContaining({ id, email, status: 'expired' }))
  await admin.post(`/api/v1/admin/invitations/${id}/resend`)
  await work()
  expect((await accept(lastToken())).status).toBe(201)
})

test('a revoked invitation is not sent by a mail that still waits', async () => {
  const { body } = await admin.post('/api/v1/admin/invitations', { email: newAddress() })
  await admin.call('DELETE', `/api/v1/admin/invitations/${body.id}`)
  await work()
  expect(outbox).toEqual([])
})

test('an address has one invitation, whatever its case', async () => {
  const { email } = await invited()
  expect(await admin.post('/api/v1/admin/invitations', { email: email.toUpperCase() })).toMatchObject({
    status: 409,
    body: { detail_code: 'detail.invited_already' },
  })
  expect(await work()).toBe(0)
})

test('the token is stored as a hash, and who invited, revoked and sent is in the audit log', async () => {
  const { id, token } = await invited()
  expect(JSON.stringify(await collectionOf(api.db, invitations).find().toArray())).not.toContain(token)
  await admin.post(`/api/v1/admin/invitations/${id}/resend`)
  await admin.call('DELETE', `/api/v1/admin/invitations/${id}`)
  const entries = (await listAudit(api.db, undefined, { limit: 100 })).filter(({ target }) => target.id === id)
  expect(entries.map(({ action }) => action).sort()).toEqual([
    'invitation.created',
    'invitation.resent',
    'invitation.revoked',
  ])
  await work()
})

test.each([
  ['an address with a line break', { email: 'a@example.net\nBcc: b@example.net' }],
  ['no address', {}],
  ['another role', { email: 'a@example.net', role: 'root' }],
  ['an operator', { email: { $gt: '' } }],
])('an invitation with %s is refused', async (_, body) => {
  expect(await admin.post('/api/v1/admin/invitations', body)).toMatchObject({ status: 422 })
})

test.each([
  ['POST', '/api/v1/admin/invitations/inv_none/resend'],
  ['DELETE', '/api/v1/admin/invitations/inv_none'],
])('%s %s is 404', async (method, path) => {
  expect(await admin.call(method, path)).toMatchObject({ status: 404, body: { detail_code: 'detail.no_invitation' } })
})
