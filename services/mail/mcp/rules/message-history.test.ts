import { describe, expect, test } from 'vitest'
import { hasRecipient, newestEvents, ofRecipient } from './message-history.ts'

const event = (entry: string) => {
  const [recipient = '', type = ''] = entry.split(' ')
  return { recipient, type: `email.${type}` }
}
const written = ({ recipient, type }: { recipient: string; type: string }) =>
  `${recipient} ${type.replace('email.', '')}`

describe('newestEvents', () => {
  test.each<[string, given: string[], limits: { recipient?: string; limit: number }, shown: string[], boolean]>([
    ['nothing', [], { limit: 1 }, [], false],
    ['acceptance alone', ['a queued', 'b scheduled'], { limit: 9 }, ['a queued', 'b scheduled'], false],
    [
      'acceptance of recipients without a later event',
      ['a queued', 'b queued', 'b bounced'],
      { limit: 9 },
      ['a queued', 'b bounced'],
      false,
    ],
    [
      'a scheduled message that was sent',
      ['a scheduled', 'a deferred', 'a delivered'],
      { limit: 9 },
      ['a deferred', 'a delivered'],
      false,
    ],
    ['the newest', ['a queued', 'a deferred', 'a delivered'], { limit: 1 }, ['a delivered'], true],
    [
      'as many as there are',
      ['a queued', 'a deferred', 'a delivered'],
      { limit: 2 },
      ['a deferred', 'a delivered'],
      false,
    ],
    [
      'one recipient',
      ['A@x queued', 'b@x queued', 'A@x bounced', 'b@x bounced'],
      { recipient: 'a@X', limit: 1 },
      ['A@x bounced'],
      false,
    ],
    ['an unknown recipient', ['a queued'], { recipient: 'b', limit: 1 }, [], false],
  ])('%s', (_, given, limits, shown, leftOut) => {
    const result = newestEvents(given.map(event), limits)
    expect([result.events.map(written), result.leftOut]).toEqual([shown, leftOut])
  })
})

test.each<[string | undefined, string[], string[]]>([
  [undefined, ['a@x', 'b@x'], ['b@x']],
  ['B@X', ['b@x'], ['b@x']],
  ['a@x', ['a@x'], []],
  ['c@x', [], []],
])('the message for the recipient %j', (recipient, recipients, waiting) => {
  const emails = (all: string[]) => all.map(email => ({ email }))
  const message = { id: 'em_1', recipients: emails(['a@x', 'b@x']), waiting: emails(['b@x']) }
  expect(ofRecipient(message, recipient)).toEqual({
    id: 'em_1',
    recipients: emails(recipients),
    waiting: emails(waiting),
  })
})

test.each([
  ['a@x.example', true],
  ['A@X.example', true],
  ['b@x.example', false],
  ['', false],
])('a message to a@x.example has the recipient %j: %s', (address, expected) => {
  expect(hasRecipient({ recipients: [{ email: 'a@x.example' }] }, address)).toBe(expected)
})
