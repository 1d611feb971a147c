/** The unsubscribe link in a reminder: reading changes nothing, one click ends the reminders of the linked user only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unsubscribeUrl } from '../../../services/subscriptions/reminders/unsubscribe-link.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
beforeAll(async () => {
  api = await startSubscriptionApi({ ADMIN_BASE_URL: 'https://api.example.net' })
})
afterAll(() => api.stop())

let number = 0
async function giveUser(more: object = {}) {
  const openid = `reader-${++number}`
  const { data } = (await api.server('POST', '/server/user', { body: { openid, ...more } })).body
  const link = unsubscribeUrl(api.context, { appKey: 'demo', id: Number(data.id) }) ?? ''
  return { id: String(data.id), openid, path: new URL(link).pathname, shown: data.reminder_mail }
}
const wants = async (id: string) => (await api.call('GET', `/user/${id}`)).body.data.users[0].reminder_mail
const visit = (method: string, path: string, init: RequestInit = {}) => fetch(api.url + path, { method, ...init })

test('GET returns a confirmation page in both languages and changes nothing', async () => {
  const { id, path } = await giveUser()
  for (const method of ['GET', 'HEAD', 'GET']) expect((await visit(method, path)).status).toBe(200)
  const answer = await visit('GET', path)
  const text = await answer.text()
  expect(text).toContain('<form method="post">')
  expect(text).toContain('No more mail before a subscription ends?')
  expect(text).toContain('不再接收订阅到期提醒')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await wants(id)).toBe('1')
})

describe('POST ends the reminders', () => {
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  test.each<[string, RequestInit]>([
    ['of a mail program, as a form', { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }],
    ['of a mail program, as multipart', { body: form }],
    ['of the page', { body: new URLSearchParams() }],
    ['without a body', {}],
    ['with a body that is not a form', { body: '{"token":', headers: { 'content-type': 'application/json' } }],
  ])('%s', async (_, init) => {
    const { id, path } = await giveUser()
    const bystander = await giveUser()
    for (const _again of [1, 2]) {
      const answer = await visit('POST', path, init)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('You will get no more reminders.')
    }
    expect([await wants(id), await wants(bystander.id)]).toEqual(['0', '1'])
  })
})

test('the token of a link is redacted in the access log', async () => {
  const { path } = await giveUser()
  const token = path.split('/').at(-1) ?? ''
  const from = api.logged.length
  for (const method of ['GET', 'POST', 'PUT']) await visit(method, path)
  await visit('GET', path.replace('/unsubscribe/', '/UNSUBSCRIBE/'))
  const logged = api.logged.slice(from)
  expect(logged.map(fields => fields.path)).toEqual(Array(4).fill('/unsubscribe/[redacted]'))
  expect(JSON.stringify(logged)).not.toContain(token)
})

test('an app sets the reminders of a user explicitly; a login alone changes nothing', async () => {
  const { id, openid, path } = await giveUser()
  const logIn = async (more: object) =>
    (await api.server('POST', '/server/user', { body: { openid, ...more } })).body.data.reminder_mail
  await visit('POST', path)
  expect([await logIn({}), await wants(id)]).toEqual(['0', '0'])
  expect([await logIn({ reminder_mail: '1' }), await wants(id)]).toEqual(['1', '1'])
  expect([await logIn({ reminder_mail: 0 }), await wants(id)]).toEqual(['0', '0'])
  const refused = await giveUser({ reminder_mail: '0' })
  expect([refused.shown, await wants(refused.id)]).toEqual(['0', '0'])
  expect((await api.server('POST', '/server/user', { body: { openid, reminder_mail: 'no' } })).body.code).toBe(42200)
})

test('rejects a changed link', async () => {
  const { id, path } = await giveUser()
  for (const bad of [
    `${path}x`,
    path.slice(0, -2),
    '/unsubscribe/x',
    '/unsubscribe/v1.a.b.c',
    `${path.slice(0, -4)}AAAA`,
  ])
    for (const method of ['GET', 'POST']) {
      const answer = await visit(method, bad)
      expect([bad, method, answer.status]).toEqual([bad, method, 404])
      expect(await answer.text()).toContain('This link is not valid.')
    }
  expect(await wants(id)).toBe('1')
})

test('accepts the link of an erased user without effect', async () => {
  const { id, path } = await giveUser()
  await api.call('DELETE', `/user/${id}`)
  expect((await visit('POST', path)).status).toBe(200)
  expect(await api.context.collections.users.findOne({ _id: Number(id) })).not.toHaveProperty('no_reminders')
})
