/** Lists of domains and accounts searched by a part of a name, among ten thousand. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertUser, type UserDoc } from '../../../services/accounts/store/users.ts'
import { type DomainDoc, domains } from '../../../services/mail/domains/store/domain-model.ts'
import { modelOf } from '../../../services/platform/database/models.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

const MANY = 10_000
let api: PanelApi
let owner: UserDoc
let client: ApiClient
let admin: ApiClient

beforeAll(async () => {
  api = await startPanelApi()
  ;({ user: owner, client } = await api.newUser({ username: 'owner-of-many' }))
  ;({ client: admin } = await api.newUser({ username: 'root', role: 'admin', email: 'root@ops.example' }))
  const template = await giveDomain(api.db, owner._id, 'first.example')
  const docs = Array.from({ length: MANY }, (_, n): DomainDoc => {
    return { ...template, _id: newId('dom'), name: `shop-${String(n).padStart(5, '0')}.example` }
  })
  await modelOf(api.db, domains).insertMany(docs)
  const { user: other } = await api.newUser({ username: 'other', email: 'anna@shop-00042.example' })
  await giveDomain(api.db, other._id, 'shop-09999.example')
  await giveDomain(api.db, other._id, 'xn--mnchen-3ya.example')
  for (let n = 0; n < 3; n++)
    await insertUser(api.db, { ...other, _id: newId('usr'), username: `team-${n}`, email: `t${n}@team.example` })
}, 120_000)
afterAll(() => api.stop())

const namesOf = async (of: ApiClient, path: string) => {
  const { status, body } = await of.get(path)
  expect(status, path).toBe(200)
  return body.data.map(({ name, username }: { name?: string; username?: string }) => name ?? username)
}

describe('a search', () => {
  test.each([
    ['domains', 'shop-09998', ['shop-09998.example']],
    ['domains', '09999', ['shop-09999.example']],
    ['domains', 'FIRST', ['first.example']],
    ['domains', 'xn--mnchen', []], // of another account
    ['domains', '.*', []],
    ['domains', '$', []],
    ['admin/domains', '09999', ['shop-09999.example', 'shop-09999.example']],
    ['admin/domains', 'münchen.example', ['xn--mnchen-3ya.example']],
    ['admin/users', 'ROOT', ['root']],
    ['admin/users', 'of-many', ['owner-of-many']],
    ['admin/users', 'shop-00042', ['other']], // by its e-mail address
    ['admin/users', 'team', ['team-0', 'team-1', 'team-2']],
    ['admin/users', 'nobody', []],
  ])('of %s for %j', async (list, search, names) => {
    const of = list.startsWith('admin') ? admin : client
    expect((await namesOf(of, `/api/v1/${list}?search=${encodeURIComponent(search)}`)).toSorted()).toEqual(names)
  })

  test('goes on over pages in both orders, and keeps to one account', async () => {
    const numbers = Array.from({ length: 10 }, (_, n) => `shop-0123${n}.example`)
    for (const [query, expected] of [
      ['sort=name', numbers],
      ['sort=name&order=desc', numbers.toReversed()],
      // Ids of one millisecond have no order that is known here.
      ['order=desc', expect.toSatisfy((seen: string[]) => seen.toSorted().join() === numbers.join())],
    ] as const) {
      const seen: string[] = []
      let after = ''
      do {
        const { body } = await client.get(`/api/v1/domains?search=shop-0123&${query}&limit=4${after}`)
        seen.push(...body.data.map(({ name }: { name: string }) => name))
        after = body.next === null ? '' : `&after=${body.next}`
      } while (after !== '')
      expect(seen, query).toEqual(expected)
    }
    expect(await namesOf(admin, `/api/v1/admin/domains?search=099&user_id=${owner._id}&limit=2`)).toHaveLength(2)
  })

  test.each(['domains', 'admin/domains', 'admin/users'])('of %s refuses what no name has', async list => {
    for (const search of ['', '%20', 'a%20b', '%00', 'x'.repeat(256)])
      expect((await admin.get(`/api/v1/${list}?search=${search}`)).status, search).toBe(422)
  })

  test('compares keys of an index and reads only the domains that match', async () => {
    await api.db.command({ profile: 2 })
    await namesOf(client, '/api/v1/domains?search=shop-05555')
    await namesOf(admin, '/api/v1/admin/domains?search=shop-05555')
    await api.db.command({ profile: 0 })
    const queries = await api.db
      .collection('system.profile')
      .find({ ns: /\.domains$/, 'command.filter.$and.0.name.$regex': { $exists: true } })
      .toArray()
    expect(queries.map(({ planSummary, docsExamined }) => [planSummary, docsExamined])).toEqual([
      ['IXSCAN { user_id: 1, name: 1 }', 1],
      ['IXSCAN { name: 1, created_at: 1 }', 1],
    ])
  })
})
