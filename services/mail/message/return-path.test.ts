import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { normaliseEmail } from './address.ts'
import { type ReturnPathMac, readReturnPathToken, returnPathHost, returnPathToken } from './return-path.ts'

const macWith =
  (secret: string): ReturnPathMac =>
  text =>
    createSecrets(secret).mac('return-path', text)
const MAC = macWith('a secret of at least 32 characters, or so')
const OLD = macWith('the secret before it, which is as long too')
const HOST = 'bounce.example.com'
const NOW = new Date('2026-11-23T12:00:00Z')
const MESSAGE = newId('em', NOW.getTime())
const OF = { messageId: MESSAGE, recipient: 7, expiresAt: new Date(NOW.getTime() + 3 * DAY_MS) }
const TOKEN = returnPathToken(OF, HOST, MAC) ?? ''
const VALID = { kind: 'valid', messageId: MESSAGE, recipient: 7 }

const read = (token: string, { host = HOST, now = NOW, macs = [MAC] as readonly ReturnPathMac[] } = {}) =>
  readReturnPathToken(token, host, now, macs)
/** The token with another character at this place. */
const changedAt = (place: number) => {
  const other = TOKEN[place] === '0' ? '1' : '0'
  return TOKEN.slice(0, place) + other + TOKEN.slice(place + 1)
}

test('a token names message and recipient and is a short local part', () => {
  expect(read(TOKEN)).toEqual(VALID)
  expect(TOKEN).toHaveLength(49)
  expect(`feedback+${TOKEN}`.length).toBeLessThanOrEqual(64)
  expect(normaliseEmail(`${TOKEN}@${HOST}`)).toBe(`${TOKEN}@${HOST}`)
})

test('repeated attempts get the same token', () => {
  expect(returnPathToken({ ...OF }, HOST, MAC)).toBe(TOKEN)
})

test.each([
  ['in upper case', TOKEN.toUpperCase(), {}, VALID],
  ['at a host in upper case', TOKEN, { host: HOST.toUpperCase() }, VALID],
  ['under the previous key', returnPathToken(OF, HOST, OLD) ?? '', { macs: [MAC, OLD] }, VALID],
  ['under a key that is gone', returnPathToken(OF, HOST, OLD) ?? '', {}, { kind: 'forged' }],
  ['at the host of another domain', TOKEN, { host: 'bounce.example.org' }, { kind: 'forged' }],
  ['on its last day', TOKEN, { now: new Date('2026-12-26T23:59:59.999Z') }, VALID],
  ['after its last day', TOKEN, { now: new Date('2026-12-27T00:00:00Z') }, { kind: 'expired' }],
  ['forged after its last day', changedAt(40), { now: new Date('2027-01-27T00:00:00Z') }, { kind: 'forged' }],
  ['without its last character', TOKEN.slice(0, -1), {}, undefined],
  ['with one character more', `${TOKEN}0`, {}, undefined],
  ['of another version', `c${TOKEN.slice(1)}`, {}, undefined],
  ['with a letter that base 32 lacks', `${TOKEN.slice(0, -1)}u`, {}, undefined],
  ['that is a word', 'postmaster', {}, undefined],
  ['that is empty', '', {}, undefined],
] as const)('a token %s', (_, token, given, expected) => {
  expect(read(token, given)).toEqual(expected)
})

test('a token with any other character is forged', () => {
  for (let place = 1; place < TOKEN.length; place++) expect(read(changedAt(place))).toEqual({ kind: 'forged' })
})

test('whatever is named is read again', () => {
  const days = fc.integer({ min: 0, max: 10_000 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 32_767 }), days, fc.nat(2 ** 40), (recipient, day, time) => {
      // Of a cell, in every other case.
      const messageId = recipient % 2 === 0 ? newId('em', time) : `${newId('em', time).slice(0, -3)}u07`
      const expiresAt = new Date(day * DAY_MS)
      const token = returnPathToken({ messageId, recipient, expiresAt }, HOST, MAC) ?? ''
      expect(read(token, { now: expiresAt })).toEqual({ kind: 'valid', messageId, recipient })
      expect(read(token, { now: new Date((day + 31) * DAY_MS) })).toEqual({ kind: 'expired' })
    }),
  )
})

test.each([
  ['an id of another kind', { messageId: newId('dom') }],
  ['an id of another form', { messageId: 'em_1' }],
  ['an id with letters that base 32 lacks', { messageId: `em_${'u'.repeat(26)}` }],
  ['too large a number', { recipient: 32_768 }],
  ['a day too far away', { expiresAt: new Date('2060-01-01') }],
])('there is no token for %s', (_, change) => {
  expect(returnPathToken({ ...OF, ...change }, HOST, MAC)).toBeUndefined()
})

test('the host of a return path leaves room for its tokens', () => {
  expect(returnPathHost('example.com')).toBe('bounce.example.com')
  expect(returnPathHost(`${'a.'.repeat(92)}com`)).toBe(`bounce.${'a.'.repeat(92)}com`)
  expect(returnPathHost(`${'a.'.repeat(93)}com`)).toBeUndefined()
})
