/** What each role in an account may do: every operation with every role. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACCOUNT_ROLES,
  type AccountRole,
  includesRole,
  MEMBER_ROLES,
} from '../../../services/accounts/members/rules/member-role.ts'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { SCOPES, scopesOfRole } from '../../../services/mail/http/shared/access.ts'
import { giveMembership, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { MAIL_OPERATIONS, type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type Needed, ROLES } from './account-roles-table.ts'

let api: PanelApi
/** An admin of the installation, whose members are none. */
let owner: UserDoc
let users: Record<AccountRole, UserDoc>
beforeAll(async () => {
  api = await startPanelApi({ DNS_SERVERS: '127.0.0.1:1' })
  owner = (await api.newUser({ role: 'admin' })).user
  const [viewer, developer, admin] = await Promise.all(
    MEMBER_ROLES.map(async role => {
      const { user } = await api.newUser()
      await giveMembership(api.db, owner, user, role)
      return user
    }),
  )
  if (!viewer || !developer || !admin) throw new Error('a role has no user')
  users = { viewer, developer, admin, owner }
})
afterAll(() => api.stop())

/** A session of the role's user in the account of the owner. */
const as = (role: AccountRole) => api.as(users[role], owner._id)
const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

/** True when a call in which nothing is valid but the caller gets past the guard. */
async function mayCall(role: AccountRole, method: string, path: string): Promise<boolean> {
  const client = await as(role)
  const url = path.replaceAll(/\{\w+\}/g, 'x_1')
  // The stream never ends, so that its body is not read.
  const answer = url.endsWith('/events/stream') ? await openStream(role) : await call(client, method, url)
  if (answer.status !== 403) return true
  expect(answer.body).toMatchObject({ code: 'forbidden' })
  return false
}
const call = (client: ApiClient, method: string, url: string) =>
  client.call(method, url, method === 'GET' ? undefined : {})

async function openStream(role: AccountRole) {
  const ended = new AbortController()
  const response = await (await as(role)).open('/api/v1/events/stream', ended.signal)
  ended.abort()
  return { status: response.status, body: undefined }
}

test('the table contains every operation of the contract and nothing else', () => {
  expect(Object.keys(ROLES).toSorted()).toEqual(MAIL_OPERATIONS.map(keyOf).toSorted())
})

const isOpenTo = (needed: Needed, role: AccountRole) => {
  if (needed === 'person' || needed === 'public') return true
  return needed === 'installation' ? role === 'owner' : includesRole(role, needed)
}

describe.each(ACCOUNT_ROLES)('%s', role => {
  const rows = MAIL_OPERATIONS.map(operation => [keyOf(operation), operation] as const)
  test.each(rows.filter(([key]) => ROLES[key] !== 'public'))('%s', async (key, { method, path }) => {
    const needed = ROLES[key]
    if (!needed) throw new Error('the operation has no entry')
    expect(await mayCall(role, method, path)).toBe(isOpenTo(needed, role))
  })
})

describe('tokens that members make', () => {
  const make = async (role: AccountRole, scopes: readonly string[]) =>
    (await as(role)).post('/api/v1/tokens', { name: 'made', scopes })

  test.each(['developer', 'admin', 'owner'] as const)(
    'a %s grants the scopes of the role, and no other',
    async role => {
      const own = scopesOfRole(role)
      expect(await make(role, own)).toMatchObject({ status: 201, body: { created_by: users[role].username } })
      for (const scope of SCOPES.filter(name => !own.includes(name)))
        expect(await make(role, ['emails:read', scope])).toMatchObject({
          status: 403,
          body: { code: 'insufficient_scope', detail_code: 'field.role_lacks_scope' },
        })
    },
  )

  test('a developer rotates no token that may do more, which would show its value', async () => {
    const [strong, weak] = await Promise.all([
      giveToken(api.db, owner._id, { scopes: ['domains:write'] }),
      giveToken(api.db, owner._id, { scopes: ['emails:send'] }),
    ])
    const client = await as('developer')
    expect(await client.post(`/api/v1/tokens/${strong._id}/rotate`, {})).toMatchObject({ status: 403 })
    expect(await client.post(`/api/v1/tokens/${weak._id}/rotate`, {})).toMatchObject({ status: 200 })
  })
})

test.each(MEMBER_ROLES)('a %s of the account of an admin of the installation is none', async role => {
  const client = await as(role)
  expect((await client.get('/api/v1/admin/users')).status).toBe(403)
  const answer = await client.get(`/api/v1/audit-logs?user_id=${users.viewer._id}`)
  expect(answer.status).toBe(role === 'admin' ? 404 : 403)
})

test('an admin of the installation has in the account of another user only the role there', async () => {
  const [{ user }, { user: boss }] = [await api.newUser(), await api.newUser({ role: 'admin' })]
  await giveMembership(api.db, user, boss, 'viewer')
  const client = await api.as(boss, user._id)
  expect((await client.get('/api/v1/admin/users')).status).toBe(200)
  expect((await client.get('/api/v1/domains')).status).toBe(200)
  expect(await client.post('/api/v1/tokens', {})).toMatchObject({
    status: 403,
    body: { detail_code: 'detail.role_needed', detail_params: { role: 'developer', own: 'viewer' } },
  })
})
