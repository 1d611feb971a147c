import fc from 'fast-check'
import { parsePolicy, resolvePolicy } from 'mailauth/lib/mta-sts.js'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../../platform/durations.ts'
import {
  currentPolicy,
  type FetchedPolicy,
  isDownloaded,
  type PolicyFile,
  parsePolicyFile,
  policyIdOf,
  refreshAt,
} from './mta-sts.ts'

describe('the id of a policy', () => {
  test.each([
    ['v=STSv1; id=20261123;', '20261123'],
    ['v=STSv1;id=a', 'a'],
    ['v=STSv1 ; id=a ; ext.name=some:thing', 'a'],
    ['v=STSv1; ext=1; id=a', 'a'],
    ['v=STSv1; id=a; id=b', 'a'],
  ])('is read: %s', (record, id) => expect(policyIdOf([record, 'v=spf1 -all'])).toBe(id))

  test.each([
    [[]],
    [['v=spf1 -all']],
    [['v=STSv1']],
    [['v=STSv1;']],
    [['v=STSv1; id=']],
    [['v=STSv1; id=a-b']],
    [[`v=STSv1; id=${'a'.repeat(33)}`]],
    [['v=stsv1; id=a']],
    [['V=STSv1; id=a']],
    [[' v=STSv1; id=a']],
    [['v=STSv1; id=a b']],
    [['v=STSv1;; id=a']],
    [['v=STSv1; ID=a']],
    [['v=STSv1; id=a', 'v=STSv1; id=a']],
  ])('is not read: %j', records => expect(policyIdOf(records)).toBeUndefined())
})

describe('a policy file', () => {
  const file = (...lines: string[]) => `${lines.join('\r\n')}\r\n`
  const RULES = ['version: STSv1', 'mode: enforce', 'max_age: 604800', 'mx: mx.example.net']
  const POLICY: PolicyFile = { mode: 'enforce', mx: ['mx.example.net'], maxAge: 604_800 }

  test.each<[string, string, PolicyFile]>([
    ['the usual form', file(...RULES), POLICY],
    ['line ends without CR and no last one', RULES.join('\n'), POLICY],
    ['any order, blanks and unknown fields', file('x: y', ...RULES.toReversed(), 'note', 'mode:'), POLICY],
    ['repeated fields', file(...RULES, 'mode: none', 'max_age: 1'), POLICY],
    [
      'two hosts and one of them again',
      file(...RULES, 'mx: *.Example.org', 'mx:MX.example.net'),
      { ...POLICY, mx: ['mx.example.net', '*.example.org'] },
    ],
    [
      'mode none without a host',
      file('version: STSv1', 'mode: none', 'max_age: 0'),
      { mode: 'none', mx: [], maxAge: 0 },
    ],
    [
      'the longest age',
      file('version: STSv1', 'mode: testing', 'max_age: 31557600', 'mx: a'),
      { mode: 'testing', mx: ['a'], maxAge: 31_557_600 },
    ],
  ])('is read: %s', (_, text, policy) => expect(parsePolicyFile(text)).toEqual(policy))

  const without = (field: string) => file(...RULES.filter(line => !line.startsWith(field)))
  const changed = (line: string) => file(line, ...RULES.filter(known => !known.startsWith(line.split(':')[0] ?? '')))
  test.each([
    ['nothing', ''],
    ['a page', '<html>version: STSv1</html>'],
    ...['version', 'mode', 'max_age', 'mx'].map(field => [`no ${field}`, without(field)]),
    ...['version: STSv2', 'mode: Enforce', 'mode: strict', 'max_age: 1d', 'max_age: 31557601', 'max_age: -1'].map(
      line => [line, changed(line)],
    ),
    ...['mx: mx_1.example', 'mx: *', 'mx: mx.*.example', 'mx: .example', 'mx:', 'mx: mx.example.'].map(line => [
      line,
      changed(line),
    ]),
  ])('is refused: %s', (_, text) => expect(parsePolicyFile(text)).toBeUndefined())
})

describe('an independent implementation reads the same in', () => {
  const piece = fc.constantFrom(
    ...[
      'v=STSv1',
      'id=',
      'id=abc1',
      ';',
      '; ',
      ' ;',
      ' ',
      '\t',
      'x=1',
      'x',
      '=',
      'v=spf1',
      'é',
      '-',
      '_',
      'a.b=c:d',
      '\n',
    ],
  )
  test('5,000 TXT records', () =>
    fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async pieces => {
        const record = `${pieces.length % 3 === 0 ? '' : 'v=STSv1; '}${pieces.join('')}`
        const theirs = await resolvePolicy('example.net', { strict: true, resolver: async () => [[record]] })
        expect(policyIdOf([record])).toBe(theirs === false ? undefined : theirs)
      }),
      { numRuns: 5_000 },
    ))

  const line = fc.constantFrom(
    ...[
      'version: STSv1',
      'version:STSv1 ',
      'version: 1',
      'mode: enforce',
      'mode:testing',
      'mode: none',
      'mode: x',
      'max_age: 1',
    ],
    ...[
      'max_age: 99999999999',
      'max_age: 31557601',
      'mx: a.example',
      'mx: *.B.example',
      'mx: a..b',
      'mx: -a',
      'mx: \u212a.example',
    ],
    ...['x: y', ' mode: none', 'mode : none', 'MODE: none', '', ':', 'x'],
  )
  test('5,000 files', () =>
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\r'), (lines, end) => {
        const text = ['version: STSv1', 'max_age: 1', ...lines].slice(lines.length % 3).join(end)
        expect(parsePolicyFile(text)).toEqual(theirPolicy(text))
      }),
      { numRuns: 5_000 },
    ))

  function theirPolicy(text: string): PolicyFile | undefined {
    try {
      const { mode, mx = [], maxAge } = parsePolicy(text, { strict: true }) as Partial<PolicyFile>
      return { mode, mx, maxAge } as PolicyFile
    } catch {
      return undefined
    }
  }
})

const MONDAY = Date.UTC(2026, 10, 23)
const downloaded = (more: Partial<FetchedPolicy> = {}) => ({
  id: '1',
  mode: 'enforce' as const,
  mx: ['mx.example.net'],
  fetched: MONDAY,
  expires: MONDAY + 7 * DAY_MS,
  ...more,
})

test.each([
  ['after a day', 30 * DAY_MS, DAY_MS],
  ['after half of its time, where that is shorter', DAY_MS, DAY_MS / 2],
  ['at once, where it may not be kept', 0, 0],
])('a policy is downloaded again %s', (_, age, after) => {
  expect(refreshAt({ fetched: MONDAY, expires: MONDAY + age })).toBe(MONDAY + after)
})

describe('of the known and the stored policy', () => {
  const LATER = downloaded({ id: '2', fetched: MONDAY + 1 })
  const EXPIRED = downloaded({ fetched: MONDAY + 2, expires: MONDAY + 10 })
  const FAILED: FetchedPolicy = { id: '1', mode: 'none', expires: MONDAY + DAY_MS }
  test.each<[string, FetchedPolicy | undefined, FetchedPolicy | undefined, FetchedPolicy | undefined]>([
    ['nothing is known', undefined, undefined, undefined],
    ['only the stored one exists', undefined, LATER, LATER],
    ['only the known one exists', LATER, undefined, LATER],
    ['the later download applies: stored', downloaded(), LATER, LATER],
    ['the later download applies: known', LATER, downloaded(), LATER],
    ['a stored one that expired does not apply', downloaded(), EXPIRED, downloaded()],
    ['a known one that expired does not apply', EXPIRED, downloaded(), downloaded()],
    ['a failed download gives way to the stored one', FAILED, downloaded(), downloaded()],
    [
      'mode none, downloaded later, ends the earlier policy',
      downloaded(),
      { ...LATER, mode: 'none' },
      { ...LATER, mode: 'none' },
    ],
  ])('%s', (_, known, stored, expected) => {
    expect(currentPolicy(known, isDownloaded(stored) ? stored : undefined, MONDAY + 60_000)).toEqual(expected)
  })
})
