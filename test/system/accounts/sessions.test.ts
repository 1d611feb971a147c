/** The list of open sessions, and the ways to end them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_SESSIONS, openSession } from '../../../services/accounts/login-sessions.ts'
import { endAllSessions } from '../../../services/accounts/manage-accounts.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { sessions } from '../../../services/accounts/store/sessions.ts'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

let api: PanelApi
let clock: TestClock
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({}, clock)
})
afterAll(() => api.stop())

const MINUTE = 60_000
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const list = async (client: PanelApi['anonymous']) => (await client.get('/api/v1/me/sessions')).body.data
const isOpen = async (client: PanelApi['anonymous']) => (await client.get('/api/v1/session')).status === 200
const open = (user: UserDoc) =>
  openSession({ db: api.db, secrets: api.secrets }, user, '192.0.2.7', clock.now()).then(token =>
    api.anonymous.with({ cookie: `pw_session=${token}`, 'x-csrf': '1' }),
  )
const actions = async (userId: string) =>
  (await listAudit(api.db, userId, { limit: 10 })).map(({ action, actor }) => `${action} by ${actor.name}`).sort()

test('the list shows program, address and times, and which session is the own', async () => {
  const user = await giveUser(api.db)
  const login = { username: user.username, password: PASSWORD }
  const answer = await api.anonymous.call('POST', '/api/v1/session', login, { 'user-agent': FIREFOX })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  clock.advance(20 * MINUTE)
  const other = await open(user)
  const [second, first] = await list(other)
  expect(second).toMatchObject({ current: true, client: null, ip: '192.0.2.7', last_used_at: second.created_at })
  expect(first).toMatchObject({ current: false, client: 'Firefox 133, Linux', ip: '127.0.0.1' })
  expect(Date.parse(second.created_at) - Date.parse(first.created_at)).toBe(20 * MINUTE)
  expect(first.last_used_at).toBe(first.created_at)
  await api.anonymous.with({ cookie }).get('/api/v1/session')
  expect((await list(other))[1].last_used_at).toBe(clock.now().toISOString())
})

test('a session of the previous release is listed, and can be ended', async () => {
  const { user, client } = await api.newUser()
  const created = new Date(clock.now().getTime() - 60 * MINUTE)
  const _id = 'f'.repeat(64)
  const row = { _id, user_id: user._id, ip: '192.0.2.9', created_at: created, expires_at: new Date('2027-01-01') }
  await collectionOf(api.db, sessions).insertOne(row)
  expect(await list(client)).toContainEqual(expect.objectContaining({ id: _id, client: null }))
  expect((await client.call('DELETE', `/api/v1/me/sessions/${_id}`)).status).toBe(204)
  expect(await list(client)).toHaveLength(1)
})

test('one session, all others, and all of a user can be ended', async () => {
  const user = await giveUser(api.db)
  const [one, two, three] = [await open(user), await open(user), await open(user)]
  const [own] = (await list(two)).filter((session: { current: boolean }) => session.current)
  expect((await one.call('DELETE', `/api/v1/me/sessions/${own.id}`)).status).toBe(204)
  expect([await isOpen(one), await isOpen(two), await isOpen(three)]).toEqual([true, false, true])
  expect((await one.call('POST', '/api/v1/me/sessions/end-others')).status).toBe(204)
  expect([await isOpen(one), await isOpen(three)]).toEqual([true, false])
  const admin = await api.newUser({ role: 'admin' })
  expect((await admin.client.call('POST', `/api/v1/admin/users/${user._id}/end-sessions`)).status).toBe(204)
  expect([await isOpen(one), await isOpen(admin.client)]).toEqual([false, true])
  expect(await actions(user._id)).toEqual([
    `session.ended by ${user.username}`,
    `session.others_ended by ${user.username}`,
    `user.sessions_ended by ${admin.user.username}`,
  ])
})

describe('refused', () => {
  test('a session of another account is not found, and stays open', async () => {
    const [mine, theirs] = [await api.newUser(), await api.newUser()]
    const [{ id }] = await list(theirs.client)
    expect(await mine.client.call('DELETE', `/api/v1/me/sessions/${id}`)).toMatchObject({
      status: 404,
      body: { detail_code: 'detail.no_session' },
    })
    expect(await isOpen(theirs.client)).toBe(true)
  })

  test.each([
    ['DELETE', '/api/v1/me/sessions/x'],
    ['POST', '/api/v1/me/sessions/end-others'],
  ])('%s %s without the CSRF header or with a token', async (method, path) => {
    const { user, client } = await api.newUser()
    expect(await client.call(method, path, undefined, { 'x-csrf': '' })).toMatchObject({ status: 403 })
    expect(await (await api.withToken(user)).call(method, path)).toMatchObject({ status: 403 })
    expect(await isOpen(client)).toBe(true)
  })

  test('a user who ends the sessions of another', async () => {
    const [mine, theirs] = [await api.newUser(), await api.newUser()]
    const path = `/api/v1/admin/users/${theirs.user._id}/end-sessions`
    expect(await mine.client.call('POST', path)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const admin = await api.newUser({ role: 'admin' })
    expect(await admin.client.call('POST', '/api/v1/admin/users/usr_none/end-sessions')).toMatchObject({ status: 404 })
  })
})

test('the oldest session ends when an account opens more than it may have', async () => {
  const user = await giveUser(api.db)
  const first = await open(user)
  const others: PanelApi['anonymous'][] = []
  for (let i = 0; i < MAX_SESSIONS; i++) {
    clock.advance(1)
    others.push(await open(user))
  }
  expect(await list(others[0] ?? first)).toHaveLength(MAX_SESSIONS)
  expect([await isOpen(first), await isOpen(others[0] ?? first)]).toEqual([false, true])
})

test('a session that is written late does not survive the end of all', async () => {
  const user = await giveUser(api.db)
  await endAllSessions({ mongo: api.mongo, clock }, user._id)
  const late = await open(user)
  expect(await isOpen(late)).toBe(false)
  clock.advance(1)
  const { sessions_from } = (await api.mongo.db.collection<UserDoc>('users').findOne({ _id: user._id })) ?? {}
  expect(sessions_from).toBeDefined()
  expect(await isOpen(await open(user))).toBe(true)
})
