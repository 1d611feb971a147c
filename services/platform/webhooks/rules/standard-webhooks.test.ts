import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { hasFailedForLong, pauseAfter, retryAfter, signedHeaders, waitAfter } from './standard-webhooks.ts'

const NOW = new Date('2026-11-23T12:00:00Z')
const HOUR = 3_600_000

test.each([
  [0, 68],
  [0.5, 75.58],
  [0.999, 83.13],
])('ten attempts with the random number %f: about %f hours, then never again', (random, hours) => {
  const waits = Array.from({ length: 10 }, (_, i) => waitAfter(i + 1, random))
  expect(waits.indexOf(undefined)).toBe(9)
  expect(waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / HOUR).toBeCloseTo(hours, 1)
})

test.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['0', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
  ['999999999', 24 * HOUR],
  ['99999999999999999999', undefined],
  ['Mon, 23 Nov 2026 12:10:00 GMT', 600_000],
  ['Mon, 23 Nov 2026 11:00:00 GMT', 0],
  ['Mon, 23 Nov 2099 12:10:00 GMT', 24 * HOUR],
])('Retry-After %j asks for %s ms', (value, expected) => {
  expect(retryAfter(value, NOW)).toBe(expected)
})

test.each([
  [1, undefined, 2_000],
  [2, undefined, 4_000],
  [9, undefined, 300_000],
  [100_000, undefined, 300_000],
  [1, 60_000, 60_000],
  [1, 24 * HOUR, HOUR],
])('after %i turns without success, with %s ms asked for, a webhook pauses for %i ms', (turns, asked, expected) => {
  expect(pauseAfter(turns, asked)).toBe(expected)
})

test.each([
  [71, 100, false],
  [72, 4, false],
  [72, 5, true],
  [1_000, 5, true],
])('failing for %i hours over %i turns disables: %s', (hours, turns, expected) => {
  expect(hasFailedForLong({ since: new Date(NOW.getTime() - hours * HOUR), turns }, NOW)).toBe(expected)
})

test('the signature equals the published example of Standard Webhooks', () => {
  const headers = signedHeaders(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  )
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

describe('the published package', () => {
  const [current, before, other] = ['a', 'b', 'c'].map(letter => `whsec_${Buffer.alloc(32, letter).toString('base64')}`)
  if (!current || !before || !other) throw new Error('three secrets')
  const body = '{"type":"webhook.test","data":{"text":"密 \u2028"}}'
  const seconds = () => Math.floor(Date.now() / 1000)
  const verify = (secret: string, headers: Record<string, string>, given = body) =>
    new Webhook(secret).verify(given, headers)

  test.each([
    ['the current secret', [current], current, true],
    ['the current secret during a rotation', [current, before], current, true],
    ['the secret before during a rotation', [current, before], before, true],
    ['the secret before after the rotation', [current], before, false],
    ['a secret of another webhook', [current, before], other, false],
  ])('with %s', (_, secrets, own, isGood) => {
    const headers = signedHeaders(secrets, 'msg_1', seconds(), body)
    if (isGood) expect(verify(own, headers)).toEqual(JSON.parse(body))
    else expect(() => verify(own, headers)).toThrow('No matching signature')
  })

  test.each<[string, (headers: Record<string, string>) => Record<string, string>, string?]>([
    ['another id', headers => ({ ...headers, 'webhook-id': 'msg_2' })],
    ['another time', headers => ({ ...headers, 'webhook-timestamp': String(seconds() - 60) })],
    ['another body', headers => headers, '{}'],
    [
      'a forged signature',
      headers => ({ ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }),
    ],
  ])('refuses %s', (_, forge, given = body) => {
    const headers = forge(signedHeaders([current], 'msg_1', seconds(), body))
    expect(() => verify(current, headers, given)).toThrow('No matching signature')
  })

  test.each([
    [-600, 'too old'],
    [600, 'too new'],
  ])('refuses a clock that is %i s off', (skew, message) => {
    expect(() => verify(current, signedHeaders([current], 'msg_1', seconds() + skew, body))).toThrow(message)
  })
})
