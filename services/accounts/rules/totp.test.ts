import { describe, expect, test } from 'vitest'
import { base32, codeOf, matchingStep, otpauthUri, stepAt } from './totp.ts'

/** The secret of the vectors of RFC 4226 and RFC 6238. */
const SECRET = Buffer.from('12345678901234567890')

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i s the code is %s (RFC 6238 appendix B, last six digits)', (seconds, code) => {
  expect(codeOf(SECRET, stepAt(seconds * 1000))).toBe(code)
})

const HOTP = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
test.each(HOTP.map((code, step) => [step, code] as const))(
  'the code of step %i is %s (RFC 4226 appendix D)',
  (step, code) => expect(codeOf(SECRET, step)).toBe(code),
)

describe('a code', () => {
  const ms = 1_111_111_111_000
  const now = stepAt(ms)
  test.each([
    ['of the current step', 0, 0, now],
    ['of the step before', -1, 0, now - 1],
    ['of the next step', 1, 0, now + 1],
    ['of two steps before', -2, 0, undefined],
    ['of two steps after', 2, 0, undefined],
    ['that was used', 0, now, undefined],
    ['that is older than the one used last', -1, now, undefined],
    ['that is newer than the one used last', 1, now, now + 1],
  ])('%s', (_, offset, lastStep, step) => {
    expect(matchingStep(SECRET, codeOf(SECRET, now + offset), { ms, lastStep })).toBe(step)
  })

  test.each(['', '0', '05047', '0504711', '٠٥٠٤٧١', '05047１', 'abcdef'])('%j is wrong', code => {
    expect(matchingStep(SECRET, code, { ms, lastStep: 0 })).toBeUndefined()
  })
})

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('%j in base 32 is %j (RFC 4648 section 10)', (text, encoded) => expect(base32(Buffer.from(text))).toBe(encoded))

test('the address for apps has issuer and name, escaped', () => {
  expect(otpauthUri('Postwright', 'ann+a@b.example', 'MZXW6')).toBe(
    'otpauth://totp/Postwright:ann%2Ba%40b.example?secret=MZXW6&issuer=Postwright',
  )
})
