/** Members of an account: invited, joining, changed, removed, leaving; and the account in which a session works. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { suspendUser, unsuspendUser } from '../../../services/accounts/manage-accounts.ts'
import { INVITATIONS_PER_HOUR } from '../../../services/accounts/members/invitation-rate.ts'
import { memberInvitations } from '../../../services/accounts/members/store/member-invitations.ts'
import { findMembership, MAX_MEMBERS, memberships } from '../../../services/accounts/members/store/memberships.ts'
import { type OutgoingAccountMail, sendAccountMails } from '../../../services/accounts/send-account-mails.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { sessions } from '../../../services/accounts/store/sessions.ts'
import { findUserByName, type UserDoc } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { createLog } from '../../../services/platform/observability/log.ts'
import { giveDomain, giveMembership } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const DAY = 86_400_000
let api: PanelApi
let clock: TestClock
let outbox: OutgoingAccountMail[]
let count = 0
/** Each test has an account of its own. */
let owner: UserDoc
let ownerClient: ApiClient
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({}, clock)
  // Suspending needs another active admin.
  await api.newUser({ role: 'admin' })
})
afterAll(() => api.stop())
beforeEach(async () => {
  outbox = []
  const made = await api.newUser()
  owner = made.user
  ownerClient = made.client
})

function work() {
  const send = async (mail: OutgoingAccountMail) => void outbox.push(mail)
  const deps = { mongo: api.mongo, secrets: api.secrets, clock, log: createLog('silent', 'test'), baseUrl: 'http://p' }
  return sendAccountMails({ ...deps, send, mayMail: async () => true }, new AbortController().signal)
}
const newAddress = () => `member${++count}@example.net`
const lastToken = () => /\/join#([\w-]{43})\n/.exec(outbox.at(-1)?.text ?? '')?.[1] ?? 'no token'
async function invited(client = ownerClient, body: { email?: string; role?: string; lang?: string } = {}) {
  const email = body.email ?? newAddress()
  const answer = await client.post('/api/v1/member-invitations', { ...body, email })
  expect(answer).toMatchObject({ status: 201, body: { email, status: 'waiting' } })
  await work()
  return { id: answer.body.id as string, email, token: lastToken() }
}
const joinNew = (token: string, username = `new-${++count}`, more = {}) =>
  api.anonymous.post('/api/v1/session/member-invitation/accept', {
    ...{ token, username, password: 'chosen password' },
    ...more,
  })
const join = (client: ApiClient, token: string) => client.post('/api/v1/me/accounts', { token })
const switchTo = (client: ApiClient, account_id: string) =>
  client.call('PUT', '/api/v1/session/account', { account_id })
/** A member with a session in the account of the owner. */
async function withRole(role: 'viewer' | 'developer' | 'admin') {
  const { user } = await api.newUser()
  await giveMembership(api.db, owner, user, role)
  return { user, client: await api.as(user, owner._id) }
}
const actionsOf = async (accountId: string) =>
  (await listAudit(api.db, accountId, { limit: 100 })).map(({ action, actor, target }) => [
    action,
    actor.name,
    target.name,
  ])

describe('an invitation', () => {
  test('makes a user with a confirmed address, who is logged in to the account', async () => {
    const { email, token, id } = await invited(ownerClient, { role: 'developer', lang: 'zh' })
    expect(outbox).toMatchObject([{ to: email, subject: `邀请您加入账号 ${owner.username}` }])
    expect(await api.anonymous.post('/api/v1/session/member-invitation', { token })).toMatchObject({
      status: 200,
      body: { email, account: owner.username, role: 'developer', lang: 'zh', invited_by: owner.username },
    })
    const answer = await joinNew(token, 'Joined', { tz: 'Asia/Shanghai' })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        user: { username: 'joined', role: 'user', email, lang: 'zh' },
        account: { id: owner._id, name: owner.username, role: 'developer' },
        accounts: [{ name: 'joined', role: 'owner' }, { id: owner._id }],
      },
    })
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
    const domain = await giveDomain(api.db, owner._id, `shared-${count}.example`)
    const listed = await api.anonymous.with({ cookie }).get('/api/v1/domains')
    expect(listed.body.data).toMatchObject([{ id: domain._id }])
    expect((await ownerClient.get('/api/v1/member-invitations')).body.data).toEqual([])
    const actions = await actionsOf(owner._id)
    expect(actions).toHaveLength(2)
    expect(actions).toContainEqual(['member.joined', 'joined', 'joined'])
    expect(actions).toContainEqual(['member_invitation.created', owner.username, email])
    expect(id).toMatch(/^mbi_/)
  })

  test('makes a user who exists a member, whose session then works in the account', async () => {
    const { user, client } = await api.newUser()
    const { token } = await invited(ownerClient, { role: 'viewer' })
    expect(await join(client, token)).toMatchObject({
      status: 200,
      body: { user: { id: user._id }, account: { id: owner._id, role: 'viewer' } },
    })
    expect((await ownerClient.get('/api/v1/members')).body.data).toMatchObject([
      { id: owner._id, role: 'owner', added_by: null },
      { id: user._id, role: 'viewer', added_by: owner.username },
    ])
  })

  test('of parallel uses of a link exactly one succeeds, of a new user or one who exists', async () => {
    const { token } = await invited()
    const { client } = await api.newUser()
    const answers = await Promise.all([
      ...[1, 2, 3].map(n => joinNew(token, `parallel-${owner._id}-${n}`.toLowerCase())),
      join(client, token),
    ])
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses.filter(status => status === 410)).toHaveLength(3)
    expect(await collectionOf(api.db, memberships).countDocuments({ account_id: owner._id })).toBe(1)
  })

  test('to another address than the confirmed one is refused, and works for the user who is meant', async () => {
    const { email, token } = await invited()
    const [{ client: other }, { client: meant }] = [
      await api.newUser({ email: 'other@example.net' }),
      await api.newUser({ email }),
    ]
    expect(await join(other, token)).toMatchObject({ status: 409, body: { detail_code: 'detail.other_address' } })
    expect((await join(meant, token)).status).toBe(200)
  })

  test('makes neither the owner nor a member a member again, and keeps working', async () => {
    const { user, client } = await withRole('viewer')
    const { token } = await invited(ownerClient, { role: 'developer' })
    for (const one of [ownerClient, client])
      expect(await join(one, token)).toMatchObject({ status: 409, body: { detail_code: 'detail.member_already' } })
    expect((await findMembership(api.db, owner._id, user._id))?.role).toBe('viewer')
    expect((await joinNew(token)).status).toBe(201)
  })

  test('costs nothing when the user name is taken', async () => {
    const { token } = await invited()
    expect(await joinNew(token, owner.username)).toMatchObject({
      status: 409,
      body: { detail_code: 'detail.account_exists' },
    })
    expect((await joinNew(token)).status).toBe(201)
  })

  test.each<[string, (given: { id: string; token: string }) => Promise<unknown>]>([
    ['was accepted', ({ token }) => joinNew(token)],
    ['was revoked', ({ id }) => ownerClient.call('DELETE', `/api/v1/member-invitations/${id}`)],
    [
      'was sent again',
      async ({ id }) => {
        expect((await ownerClient.post(`/api/v1/member-invitations/${id}/resend`)).status).toBe(200)
        await work()
      },
    ],
    ['is 7 days old', async () => clock.advance(7 * DAY)],
    ['is for a suspended account', async () => suspendUser({ mongo: api.mongo, clock }, owner._id)],
  ])('whose link %s does nothing', async (_, change) => {
    const given = await invited()
    await change(given)
    const { client } = await api.newUser()
    expect(await joinNew(given.token, `late-${++count}`)).toMatchObject({ status: 410, body: { code: 'link_invalid' } })
    expect(await join(client, given.token)).toMatchObject({ status: 410 })
    expect(await api.anonymous.post('/api/v1/session/member-invitation', { token: given.token })).toMatchObject({
      status: 410,
    })
    expect(await findUserByName(api.db, `late-${count}`)).toBeUndefined()
  })

  test('that was revoked is not sent by a mail that still waits', async () => {
    const { body } = await ownerClient.post('/api/v1/member-invitations', { email: newAddress() })
    await ownerClient.call('DELETE', `/api/v1/member-invitations/${body.id}`)
    await work()
    expect(outbox).toEqual([])
  })

  test('of an address is one in an account, and one in each other account', async () => {
    const { email } = await invited()
    expect(await ownerClient.post('/api/v1/member-invitations', { email: email.toUpperCase() })).toMatchObject({
      status: 409,
      body: { detail_code: 'detail.invited_already' },
    })
    const { client } = await api.newUser()
    expect((await client.post('/api/v1/member-invitations', { email })).status).toBe(201)
    await work()
  })

  test('is stored without its token', async () => {
    const { token } = await invited()
    expect(JSON.stringify(await collectionOf(api.db, memberInvitations).find().toArray())).not.toContain(token)
  })

  test('is refused beyond the rate of a user', async () => {
    const { id } = await invited()
    const path = `/api/v1/member-invitations/${id}/resend`
    for (let sent = 1; sent < INVITATIONS_PER_HOUR; sent++) expect((await ownerClient.post(path)).status).toBe(200)
    expect(await ownerClient.post(path)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    const { client } = await withRole('admin')
    expect((await client.post('/api/v1/member-invitations', { email: newAddress() })).status).toBe(201)
    await work()
  })

  test(`is refused when members and invitations are ${MAX_MEMBERS}`, async () => {
    const by = { user_id: owner._id, name: owner.username }
    await collectionOf(api.db, memberships).insertMany(
      Array.from({ length: MAX_MEMBERS - 1 }, () => ({
        ...{ _id: newId('mbr'), account_id: owner._id, user_id: newId('usr'), role: 'viewer' as const },
        ...{ added_by: by, added_at: clock.now() },
      })),
    )
    await invited()
    expect(await ownerClient.post('/api/v1/member-invitations', { email: newAddress() })).toMatchObject({
      status: 409,
      body: { detail_code: 'detail.members', detail_params: { count: MAX_MEMBERS } },
    })
  })

  test(`is refused to a user with ${MAX_MEMBERS} accounts`, async () => {
    const { user, client } = await api.newUser()
    const by = { user_id: owner._id, name: owner.username }
    await collectionOf(api.db, memberships).insertMany(
      Array.from({ length: MAX_MEMBERS }, () => ({
        ...{ _id: newId('mbr'), account_id: newId('usr'), user_id: user._id, role: 'viewer' as const },
        ...{ added_by: by, added_at: clock.now() },
      })),
    )
    const { token } = await invited()
    expect(await join(client, token)).toMatchObject({ status: 409, body: { detail_code: 'detail.members' } })
  })

  test.each([
    ['an address with a line break', { email: 'a@example.net\nBcc: b@example.net' }],
    ['no address', {}],
    ['the role of the owner', { email: 'a@example.net', role: 'owner' }],
    ['an operator', { email: { $gt: '' } }],
  ])('with %s is refused', async (_, body) => {
    expect(await ownerClient.post('/api/v1/member-invitations', body)).toMatchObject({ status: 422 })
  })
})

describe('roles', () => {
  test.each([
    ['owner', 'admin', true],
    ['owner', 'developer', true],
    ['admin', 'admin', false],
    ['admin', 'developer', true],
    ['admin', 'viewer', true],
  ] as const)('%s grants %s: %s', async (by, role, allowed) => {
    const client = by === 'owner' ? ownerClient : (await withRole('admin')).client
    const { user } = await withRole('viewer')
    const [changed, made] = [
      await client.call('PATCH', `/api/v1/members/${user._id}`, { role }),
      await client.post('/api/v1/member-invitations', { email: newAddress(), role }),
    ]
    const refused = { status: 403, body: { detail_code: 'detail.role_not_assignable' } }
    expect(changed).toMatchObject(allowed ? { status: 200, body: { id: user._id, role } } : refused)
    expect(made).toMatchObject(allowed ? { status: 201 } : refused)
    expect((await findMembership(api.db, owner._id, user._id))?.role).toBe(allowed ? role : 'viewer')
    await work()
  })

  test('an admin changes, removes and revokes no other admin', async () => {
    const [{ client }, { user }] = [await withRole('admin'), await withRole('admin')]
    const { id } = await invited(ownerClient, { role: 'admin' })
    for (const answer of [
      await client.call('PATCH', `/api/v1/members/${user._id}`, { role: 'viewer' }),
      await client.call('DELETE', `/api/v1/members/${user._id}`),
      await client.post(`/api/v1/member-invitations/${id}/resend`),
      await client.call('DELETE', `/api/v1/member-invitations/${id}`),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail_code: 'detail.role_not_assignable' } })
  })

  test('nobody changes or removes the owner, who cannot leave', async () => {
    const { client } = await withRole('admin')
    const path = `/api/v1/members/${owner._id}`
    for (const one of [client, ownerClient])
      for (const answer of [
        await one.call('PATCH', path, { role: 'viewer' }),
        await one.call('DELETE', path),
        await ownerClient.call('DELETE', `/api/v1/me/accounts/${owner._id}`),
      ])
        expect(answer).toMatchObject({ status: 409, body: { detail_code: 'detail.owner_stays' } })
  })

  test('a change holds from the next request of an open session', async () => {
    const { user, client } = await withRole('viewer')
    const create = () => client.post('/api/v1/suppressions', { email: newAddress() })
    expect((await create()).status).toBe(403)
    await ownerClient.call('PATCH', `/api/v1/members/${user._id}`, { role: 'developer' })
    expect((await create()).status).toBe(201)
    await ownerClient.call('PATCH', `/api/v1/members/${user._id}`, { role: 'viewer' })
    expect((await create()).status).toBe(403)
  })

  test('of two admins whom the owner degrades while they act, neither acts with the former role', async () => {
    const [one, two] = [await withRole('admin'), await withRole('admin')]
    const { user: target } = await withRole('viewer')
    const path = `/api/v1/members/${target._id}`
    await Promise.all([
      one.client.call('PATCH', path, { role: 'developer' }),
      ownerClient.call('DELETE', `/api/v1/members/${one.user._id}`),
      two.client.call('PATCH', path, { role: 'viewer' }),
      ownerClient.call('PATCH', `/api/v1/members/${two.user._id}`, { role: 'viewer' }),
    ])
    const before = (await findMembership(api.db, owner._id, target._id))?.role
    for (const { client } of [one, two])
      expect((await client.call('PATCH', path, { role: 'developer' })).status).toBe(403)
    expect((await findMembership(api.db, owner._id, target._id))?.role).toBe(before)
  })

  test('of two changes at once one follows the other: both succeed, and the record has one of the roles', async () => {
    const { user } = await withRole('viewer')
    const change = (role: string) => ownerClient.call('PATCH', `/api/v1/members/${user._id}`, { role })
    const answers = await Promise.all(['developer', 'admin', 'developer', 'viewer'].map(change))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const members = (await ownerClient.get('/api/v1/members')).body.data
    expect(members).toHaveLength(2)
  })

  test('members and invitations of another account are 404', async () => {
    const { user } = await withRole('viewer')
    const { id } = await invited()
    const { client } = await api.newUser()
    for (const [method, path, body] of [
      ['PATCH', `/api/v1/members/${user._id}`, { role: 'viewer' }],
      ['DELETE', `/api/v1/members/${user._id}`, undefined],
      ['POST', `/api/v1/member-invitations/${id}/resend`, {}],
      ['DELETE', `/api/v1/member-invitations/${id}`, undefined],
    ] as const)
      expect(await client.call(method, path, body)).toMatchObject({ status: 404 })
    expect(await findMembership(api.db, owner._id, user._id)).toBeDefined()
  })
})

describe('a member who is removed', () => {
  test('is out with the next request of an open session, which does not fall back to the own account', async () => {
    const { user, client } = await withRole('developer')
    expect((await client.get('/api/v1/domains')).status).toBe(200)
    expect((await ownerClient.call('DELETE', `/api/v1/members/${user._id}`)).status).toBe(200)
    for (const answer of [
      await client.get('/api/v1/domains'),
      await client.post('/api/v1/suppressions', { email: newAddress() }),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code: 'not_a_member' } })
    expect(await switchTo(client, owner._id)).toMatchObject({ status: 403, body: { code: 'not_a_member' } })
    // Reading the session brings it back to the own account, as its answer says.
    expect((await client.get('/api/v1/session')).body).toMatchObject({
      account: { id: user._id, role: 'owner' },
      accounts: [{ id: user._id }],
    })
    expect((await client.get('/api/v1/domains')).status).toBe(200)
  })

  test('leaves tokens and logins behind, which the answer counts, and no invitations', async () => {
    const { user, client } = await withRole('admin')
    const made = await client.post('/api/v1/tokens', { name: 'stays', scopes: ['emails:read'] })
    const { body: revoked } = await client.post('/api/v1/tokens', { name: 'revoked', scopes: ['emails:read'] })
    await client.call('DELETE', `/api/v1/tokens/${revoked.id}`)
    const login = await client.post('/api/v1/smtp-credentials', { username: `left-${++count}` })
    expect(login).toMatchObject({ status: 201, body: { created_by: user.username } })
    const { token } = await invited(client, { role: 'developer' })
    expect(await ownerClient.call('DELETE', `/api/v1/members/${user._id}`)).toMatchObject({
      status: 200,
      body: { id: user._id, tokens: 1, smtp_credentials: 1 },
    })
    const byToken = api.anonymous.with({ authorization: `Bearer ${made.body.token}` })
    expect((await byToken.get('/api/v1/emails')).status).toBe(200)
    expect((await joinNew(token)).status).toBe(410)
  })

  test('and was an admin: its invitations end with that role', async () => {
    const { user, client } = await withRole('admin')
    const { token } = await invited(client, { role: 'developer' })
    await ownerClient.call('PATCH', `/api/v1/members/${user._id}`, { role: 'developer' })
    expect((await joinNew(token)).status).toBe(410)
  })

  test('can be the member itself, who leaves', async () => {
    const { user, client } = await withRole('viewer')
    expect((await client.call('DELETE', `/api/v1/me/accounts/${owner._id}`)).status).toBe(204)
    expect((await client.get('/api/v1/domains')).status).toBe(403)
    expect((await client.call('DELETE', `/api/v1/me/accounts/${owner._id}`)).status).toBe(404)
    expect(await actionsOf(owner._id)).toContainEqual(['member.left', user.username, user.username])
  })

  test('gets no more of the stream that is open, also when the session has gone to another account', async () => {
    const { user, client } = await withRole('viewer')
    const [one, two] = [await openStream(client), await openStream(client)]
    await ownerClient.call('DELETE', `/api/v1/members/${user._id}`)
    clock.advance(5_000)
    await one.ended
    expect((await switchTo(client, user._id)).status).toBe(200)
    clock.advance(5_000)
    await two.ended
  })

  test('a stream of an account that the session has left ends, although its user is still a member', async () => {
    const { user, client } = await withRole('viewer')
    const stream = await openStream(client)
    await switchTo(client, user._id)
    clock.advance(5_000)
    await stream.ended
  })
})

async function openStream(client: ApiClient) {
  const response = await client.open('/api/v1/events/stream', AbortSignal.timeout(90_000))
  expect(response.status).toBe(200)
  return { ended: response.text() }
}

describe('a session', () => {
  test('works in one account at a time, and sees nothing of the others', async () => {
    const { user, client } = await api.newUser()
    const { user: second } = await api.newUser()
    const joined = [
      await giveMembership(api.db, owner, user, 'admin'),
      await giveMembership(api.db, second, user, 'admin'),
    ]
    // Two of the same millisecond have either order.
    const others = joined.toSorted((a, b) => (a._id < b._id ? -1 : 1))
    const domains = new Map(
      await Promise.all(
        [user, owner, second].map(
          async ({ _id }) =>
            [_id, (await giveDomain(api.db, _id, `${_id.slice(4)}.example`.toLowerCase()))._id] as const,
        ),
      ),
    )
    for (const [accountId, domain] of domains) {
      expect(await switchTo(client, accountId)).toMatchObject({ status: 200, body: { account: { id: accountId } } })
      expect((await client.get('/api/v1/domains')).body.data).toMatchObject([{ id: domain }])
      for (const [other, foreign] of domains)
        if (other !== accountId) expect((await client.get(`/api/v1/domains/${foreign}`)).status).toBe(404)
    }
    expect((await client.get('/api/v1/me/accounts')).body.data).toMatchObject([
      { id: user._id, role: 'owner' },
      ...others.map(({ account_id: id }) => ({ id, role: 'admin' })),
    ])
  })

  test('chooses only for itself: another session of the user stays where it is', async () => {
    const { user, client } = await withRole('viewer')
    const other = await api.as(user)
    await giveDomain(api.db, owner._id, `own-${++count}.example`)
    expect((await client.get('/api/v1/domains')).body.data).toHaveLength(1)
    expect((await other.get('/api/v1/domains')).body.data).toHaveLength(0)
    expect(await collectionOf(api.db, sessions).countDocuments({ user_id: user._id, account_id: owner._id })).toBe(1)
  })

  test.each([
    ['of others', async () => (await api.newUser()).user._id],
    ['that do not exist', async () => 'usr_none'],
  ])('cannot choose accounts %s', async (_, id) => {
    const { client } = await api.newUser()
    expect(await switchTo(client, await id())).toMatchObject({ status: 403, body: { code: 'not_a_member' } })
  })

  test('refuses a request from a page that shows another account', async () => {
    const { user, client } = await withRole('developer')
    const shown = (id: string) => client.with({ 'x-account': id })
    expect((await shown(owner._id).get('/api/v1/domains')).status).toBe(200)
    expect(await shown(user._id).post('/api/v1/suppressions', { email: newAddress() })).toMatchObject({
      status: 409,
      body: { code: 'account_switched' },
    })
    expect((await shown(user._id).get('/api/v1/session')).status).toBe(200)
  })

  test('has no access to a suspended account, and has it again afterwards', async () => {
    const { client } = await withRole('admin')
    await suspendUser({ mongo: api.mongo, clock }, owner._id)
    expect(await client.get('/api/v1/domains')).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
    expect(await switchTo(client, owner._id)).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
    const { body } = await client.get('/api/v1/session')
    expect(body.account.role).toBe('owner')
    expect(body.accounts[1]).toMatchObject({ id: owner._id, suspended: true })
    await unsuspendUser({ mongo: api.mongo, clock }, owner._id)
    expect((await switchTo(client, owner._id)).status).toBe(200)
  })

  test('of a suspended member ends everywhere', async () => {
    const { user, client } = await withRole('admin')
    await suspendUser({ mongo: api.mongo, clock }, user._id)
    expect((await client.get('/api/v1/domains')).status).toBe(401)
  })

  test('reads and changes its own user in whichever account it works', async () => {
    const { user, client } = await withRole('admin')
    expect((await client.get('/api/v1/me')).body.id).toBe(user._id)
    await client.call('PATCH', '/api/v1/me', { tz: 'Asia/Shanghai' })
    expect((await ownerClient.get('/api/v1/me')).body.tz).toBe('UTC')
    expect((await client.get('/api/v1/me/sessions')).body.data).toHaveLength(2)
  })

  test('leaves in the audit log of the account who acted', async () => {
    const { user, client } = await withRole('developer')
    const { body } = await client.post('/api/v1/tokens', { name: 'audited', scopes: ['emails:read'] })
    const [entry] = await listAudit(api.db, owner._id, { limit: 1 })
    expect(entry).toMatchObject({
      user_id: owner._id,
      action: 'token.created',
      target: { id: body.id },
      actor: { user_id: user._id, name: user.username, via: 'session' },
    })
  })
})
