/** Saved views of the message log. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { VIEWS_MOST } from '../../../services/mail/log/http/views-contract.ts'
import { giveMembership } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

const VIEWS = '/api/v1/me/message-views'
let api: PanelApi
let client: ApiClient
let user: UserDoc
beforeAll(async () => {
  api = await startPanelApi()
})
afterAll(() => api.stop())
beforeEach(async () => {
  ;({ user, client } = await api.newUser())
})

const names = async (of: ApiClient) => (await of.get(VIEWS)).body.data.map(({ name }: { name: string }) => name)

test('views are listed by name; one that is saved again has its new filters and its id', async () => {
  const { status, body } = await client.post(VIEWS, { name: ' Bounces ', filters: { status: 'bounced', days: 7 } })
  expect([status, body.name, body.filters]).toEqual([201, 'Bounces', { status: 'bounced', days: 7 }])
  await client.post(VIEWS, { name: 'All of shop', filters: { domain: 'shop.example', tag: 'kind:news' } })
  const again = await client.post(VIEWS, { name: 'Bounces', filters: { reason: 'tls' } })
  expect(again.body).toMatchObject({ id: body.id, filters: { reason: 'tls' }, created_at: body.created_at })
  expect(await names(client)).toEqual(['All of shop', 'Bounces'])
})

test('a view keeps one status as it was given, and several', async () => {
  const { body } = await client.post(VIEWS, { name: 'Problems', filters: { status: ['bounced', 'failed'] } })
  await client.post(VIEWS, { name: 'Retried', filters: { status: 'deferred' } })
  expect((await client.get(VIEWS)).body.data).toMatchObject([
    { id: body.id, filters: { status: ['bounced', 'failed'] } },
    { filters: { status: 'deferred' } },
  ])
})

test('views are those of the user in the account: others neither see nor remove them', async () => {
  const { body } = await client.post(VIEWS, { name: 'mine', filters: {} })
  const member = await api.newUser()
  await giveMembership(api.db, user, member.user, 'viewer')
  const inAccount = await api.as(member.user, user._id)
  expect(await names(inAccount)).toEqual([])
  expect((await inAccount.call('DELETE', `${VIEWS}/${body.id}`)).status).toBe(404)
  await inAccount.post(VIEWS, { name: 'of the member', filters: {} })
  expect([await names(client), await names(inAccount), await names(member.client)]).toEqual([
    ['mine'],
    ['of the member'],
    [],
  ])
  expect((await client.call('DELETE', `${VIEWS}/${body.id}`)).status).toBe(204)
  expect((await client.call('DELETE', `${VIEWS}/${body.id}`)).status).toBe(404)
})

test('a user has a bounded number of views; an existing one can still be changed', async () => {
  for (let n = 0; n < VIEWS_MOST; n++)
    expect((await client.post(VIEWS, { name: `view ${n}`, filters: {} })).status).toBe(201)
  const more = await client.post(VIEWS, { name: 'one more', filters: {} })
  expect([more.status, more.body.detail_code]).toEqual([409, 'detail.message_views_full'])
  expect((await client.post(VIEWS, { name: 'view 3', filters: { q: 'invoice' } })).status).toBe(201)
})

test.each([
  ['no name', { name: ' ', filters: {} }],
  ['a long name', { name: 'n'.repeat(61), filters: {} }],
  ['no filters', { name: 'n' }],
  ['an unknown filter', { name: 'n', filters: { $where: '1' } }],
  ['an invalid status', { name: 'n', filters: { status: 'gone' } }],
  ['an invalid one of several statuses', { name: 'n', filters: { status: ['bounced', 'gone'] } }],
  ['an empty list of statuses', { name: 'n', filters: { status: [] } }],
  ['a long value', { name: 'n', filters: { tag: 't'.repeat(255) } }],
  ['too many days', { name: 'n', filters: { days: 366 } }],
])('%s is refused', async (_what, body) => {
  expect((await client.post(VIEWS, body)).status).toBe(422)
})

test('a token has no views', async () => {
  const token = await api.withToken(user)
  expect((await token.get(VIEWS)).status).toBe(403)
})
