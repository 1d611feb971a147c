import { describe, expect, test } from 'vitest'
import { SecretError } from '../security/secrets.ts'
import { sentence } from '../sentences/sentence.ts'
import { changeFor, currentSecret, secretMadeAt, webhookOfResource } from './declared-webhook.ts'
import type { WebhookEndpoint } from './event-queue.ts'

const at = new Date('2026-11-24T10:00:00Z')
const by = { kind: 'WebhookEndpoint', namespace: 'shop', name: 'events', uid: 'uid-1' }
const url = 'https://hooks.example.com'

function webhook(more: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return { _id: 'wh_1', url, enabled: true, sealed: 'sealed', events: [], created_at: at, updated_at: at, ...more }
}

const managed = { managed_by: by }
const disabled = { enabled: false, disabled: { at, reason: sentence('webhook.gone') } }
const failing = { failing: { since: at, turns: 1, paused_until: at } }

describe('the record of a resource', () => {
  const other = { ...by, name: 'other', uid: 'uid-2' }
  test.each<[string, Partial<WebhookEndpoint>[], boolean, number | undefined]>([
    ['that it manages', [{}, managed], true, 1],
    ['under the uid of a resource that was created again', [{ managed_by: { ...by, uid: 'old' } }], false, 0],
    ['that one of its name released', [{ released_by: { ...by, uid: 'old' } }], false, 0],
    ['of the same address, with adopt', [{ url: `${url}/2` }, {}, {}], true, 1],
    ['but none of the same address without it', [{}], false, undefined],
    ['but none that another resource manages', [{ managed_by: other }], true, undefined],
    ['but none that another resource released', [{ released_by: other }], false, undefined],
  ])('is the one %s', (_, records, adopt, expected) => {
    const webhooks = records.map((record, index) => webhook({ _id: `wh_${index}`, ...record }))
    const found = webhookOfResource(webhooks, by, url, adopt)
    expect(found).toBe(expected === undefined ? undefined : webhooks[expected])
  })
})

describe('a declaration', () => {
  const later = new Date(at.getTime() + 1)
  test.each<[string, Partial<WebhookEndpoint>, object, Date | undefined, object | undefined]>([
    ['of what is there changes nothing', managed, { enabled: true }, undefined, undefined],
    ['keeps what it does not name', { ...managed, enabled: false }, {}, undefined, undefined],
    ['sets what differs', managed, { events: ['a'] }, undefined, { set: { events: ['a'] }, remove: [] }],
    ['takes a record over', { released_by: by }, {}, undefined, { set: { managed_by: by }, remove: ['released_by'] }],
    ['disables', managed, { enabled: false }, undefined, { set: { enabled: false }, remove: [] }],
    ['leaves what the platform disabled', { ...managed, ...disabled }, { enabled: true }, undefined, undefined],
    ['leaves it after an earlier request', { ...managed, ...disabled }, { enabled: true }, at, undefined],
    [
      'enables it after a later request',
      { ...managed, ...disabled },
      {},
      later,
      { set: { enabled: true }, remove: ['disabled'] },
    ],
    [
      'enables it at another address',
      { ...managed, ...disabled },
      { url: `${url}/2` },
      undefined,
      { set: { url: `${url}/2`, enabled: true }, remove: ['disabled'] },
    ],
    [
      'forgets why, when it is declared off',
      { ...managed, ...disabled },
      { enabled: false },
      undefined,
      { set: {}, remove: ['disabled'] },
    ],
    [
      'ends a pause with a new address',
      { ...managed, ...failing },
      { url: `${url}/2` },
      undefined,
      { set: { url: `${url}/2` }, remove: ['failing'] },
    ],
  ])('%s', (_, before, declared, enableAt, expected) => {
    expect(changeFor(webhook(before), { url, ...declared }, by, enableAt)).toEqual(expected)
  })
})

describe('the secret', () => {
  const rotated = { previous: { sealed: 'old', until: new Date('2026-11-25T12:00:00Z') } }

  test('was made with the webhook, or by the last rotation', () => {
    expect(secretMadeAt(webhook())).toEqual(at)
    expect(secretMadeAt(webhook(rotated))).toEqual(new Date('2026-11-24T12:00:00Z'))
  })

  test.each<[string, Date | undefined, string | undefined]>([
    ['without a request', undefined, 'open sealed'],
    ['made after the time of the request', new Date('2026-11-24T11:59:59Z'), 'open sealed'],
    ['made before it', new Date('2026-11-24T12:00:01Z'), undefined],
  ])('%s is %s', (_, before, expected) => {
    expect(currentSecret(webhook(rotated), sealed => `open ${sealed}`, before)).toBe(expected)
  })

  test('that cannot be opened any more is replaced; other failures are thrown on', () => {
    const fail = (error: Error) => () => {
      throw error
    }
    expect(currentSecret(webhook(), fail(new SecretError('lost')), undefined)).toBeUndefined()
    const away = new TypeError('away')
    expect(() => currentSecret(webhook(), fail(away), undefined)).toThrow(away)
  })
})
