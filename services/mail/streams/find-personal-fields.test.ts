import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../platform/security/secrets.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { createPersonalFields } from './find-personal-fields.ts'
import { readUnsubscribeToken, unsubscribeUrl } from './unsubscribe-link.ts'

const secrets = createSecrets('a secret of at least thirty-two bytes')
const find = createPersonalFields({ secrets, baseUrl: 'https://mail.example.com' })

const message = (change: Partial<OutgoingMessage> = {}) =>
  ({
    ...{ _id: 'em_1', user_id: 'usr_0123456789abcdefghjk', from: 'News@Example.COM', lane: 'bulk' },
    rcpts: [
      { email: 'ann@example.net', type: 'to', status: 'queued' },
      { email: '"a b"@example.net', type: 'to', status: 'queued' },
    ],
    ...change,
  }) as OutgoingMessage
const one = [{ email: 'ann@example.net', type: 'to', status: 'queued' }] as OutgoingMessage['rcpts']

/** The fields by name, unfolded. */
function fieldsOf(change: Partial<OutgoingMessage>, n = 0, returnPath?: string) {
  const given = message(change)
  const made = find(given)?.({ id: `em_1.${n}`, recipient: given.rcpts[n]?.email ?? '' }, returnPath)
  if (made === undefined) return undefined
  expect(made).toMatch(/^(?:[A-Za-z-]+: [^\r\n]+(?:\r\n [^\r\n]+)*\r\n)*$/)
  const lines = made.replaceAll('\r\n ', ' ').split('\r\n').filter(Boolean)
  return Object.fromEntries(lines.map(line => line.split(/: (.*)/, 2)))
}
const OWN = 'token@bounce.example.com'

describe('bulk mail', () => {
  test('has a link for each recipient, and no other', () => {
    const links = [0, 1].map(
      n => /<https:\/\/mail\.example\.com\/u\/([^>]+)>/.exec(fieldsOf({}, n)?.['List-Unsubscribe'])?.[1],
    )
    expect(links.map(link => readUnsubscribeToken(secrets, link ?? ''))).toEqual(
      ['ann@example.net', '"a b"@example.net'].map((email, n) => ({
        ...{
          userId: 'usr_0123456789abcdefghjk',
          deliveryId: `em_1.${n}`,
          stream: 'bulk',
          domain: 'example.com',
          email,
        },
      })),
    )
    expect(Object.keys(fieldsOf({}) ?? {})).toEqual(['List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID'])
  })

  test('names its list', () => {
    const fields = fieldsOf({ list: 'weekly' })
    const token = /\/u\/([^>]+)>/.exec(fields?.['List-Unsubscribe'])?.[1] ?? ''
    expect(readUnsubscribeToken(secrets, token)?.stream).toBe('bulk/weekly')
    expect(fields?.['Feedback-ID']).toBe('weekly:example.com:89abcdefghjk:postwright')
  })

  test('with an own return path takes complaints and unsubscribes by mail', () =>
    expect(fieldsOf({}, 0, OWN)).toMatchObject({
      'List-Unsubscribe': expect.stringMatching(/>, <mailto:unsubscribe\+token@bounce\.example\.com>$/),
      'CFBL-Address': 'feedback+token@bounce.example.com; report=arf',
      'Feedback-ID': 'bulk:example.com:89abcdefghjk:postwright',
    }))

  test.each<[string, Partial<OutgoingMessage>, string[]]>([
    ['List-Unsubscribe', { own_fields: ['unsubscribe'] }, ['CFBL-Address', 'Feedback-ID']],
    ['Feedback-ID', { own_fields: ['feedback_id'] }, ['List-Unsubscribe', 'List-Unsubscribe-Post', 'CFBL-Address']],
    ['both', { own_fields: ['unsubscribe', 'feedback_id'] }, ['CFBL-Address']],
  ])('keeps %s of the sender', (_, change, added) => expect(Object.keys(fieldsOf(change, 0, OWN) ?? {})).toEqual(added))

  test.each(['token@bounces.other.example', 'token@notexample.com'])(
    '%s is no address of the author domain',
    returnPath => expect(Object.keys(fieldsOf({}, 0, returnPath) ?? {})).not.toContain('CFBL-Address'),
  )
})

describe('other mail', () => {
  test('to one recipient has an address for complaints where the domain has a return path', () => {
    expect(fieldsOf({ lane: 'transactional', rcpts: one }, 0, OWN)).toEqual({
      'CFBL-Address': 'feedback+token@bounce.example.com; report=arf',
    })
    expect(fieldsOf({ lane: 'transactional', rcpts: one })).toEqual({})
  })

  test('to several has the same bytes for all', () => expect(find(message({ lane: 'transactional' }))).toBeUndefined())

  test('of the installation has none', () => expect(find(message({ lane: 'system', rcpts: one }))).toBeUndefined())
})

describe('a link', () => {
  const of = { userId: 'usr_1', deliveryId: 'em_1.0', stream: 'bulk', domain: 'example.com', email: 'ann@example.net' }
  const link = unsubscribeUrl(secrets, 'https://mail.example.com', of)
  const token = link.slice(link.lastIndexOf('/') + 1)

  test('shows no address', () => expect(link).not.toContain('example.net'))

  test.each<[string, string]>([
    ['cut', token.slice(0, -1)],
    ['changed', `${token.slice(0, -6)}AAAAAA`],
    ['empty', ''],
    ['another text', 'v1.x.y.z'],
    ['sealed for another purpose', secrets.seal('session', 'mail', 'usr_1 em_1.0 bulk example.com ann@example.net')],
    ['sealed for reminders', secrets.seal('unsubscribe', 'reminders', '1 demo')],
    [
      'of another installation',
      createSecrets('another secret of thirty-two bytes').seal('unsubscribe', 'mail', 'a b c d e'),
    ],
  ])('that is %s names nobody', (_, given) => expect(readUnsubscribeToken(secrets, given)).toBeUndefined())

  test('stays valid while the secret is the previous one', () => {
    const rotated = createSecrets('another secret of thirty-two bytes', 'a secret of at least thirty-two bytes')
    expect(readUnsubscribeToken(rotated, token)).toEqual(of)
  })
})
