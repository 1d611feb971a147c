/** DMARC records with our additions: stricter or the same, never weaker. */
import { expect, test } from 'vitest'
import { parseDmarc, weakenings } from './dmarc.ts'
import { mergeDmarc, strictest } from './merge-dmarc.ts'

const OURS = 'v=DMARC1; p=none; rua=mailto:d@in.example.net'

test.each([
  ['a stricter policy stays', 'v=DMARC1; p=reject', 'v=DMARC1; p=none', 'v=DMARC1; p=reject'],
  [
    'nothing to add leaves it as written',
    'v=DMARC1;p=reject ;  adkim=s;',
    'v=DMARC1; p=none',
    'v=DMARC1;p=reject ;  adkim=s;',
  ],
  [
    'a stricter wish raises it',
    'v=DMARC1; p=none; adkim=s',
    'v=DMARC1; p=quarantine',
    'v=DMARC1; p=quarantine; adkim=s',
  ],
  ['addresses for reports are added', 'v=DMARC1; p=reject', OURS, 'v=DMARC1; p=reject; rua=mailto:d@in.example.net'],
  [
    'beside those of the owner',
    'v=DMARC1; p=reject; rua=mailto:a@example.com; ruf=mailto:b@example.com; pct=100',
    OURS,
    'v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:d@in.example.net; ruf=mailto:b@example.com; pct=100',
  ],
  [
    'and only once',
    'v=DMARC1; p=reject; rua=MAILTO:D@in.example.net',
    OURS,
    'v=DMARC1; p=reject; rua=MAILTO:D@in.example.net',
  ],
  [
    'a policy for subdomains stays',
    'v=DMARC1; p=none; sp=reject',
    'v=DMARC1; p=reject',
    'v=DMARC1; p=reject; sp=reject',
  ],
  [
    'a record without a policy gets one',
    'v=DMARC1; rua=mailto:a@example.com',
    'v=DMARC1; p=reject',
    'v=DMARC1; p=reject; rua=mailto:a@example.com',
  ],
  ['one that receivers cannot read is replaced', 'v=DMARC1; p=reject; p=none', 'v=DMARC1; p=none', 'v=DMARC1; p=none'],
  ['what is no DMARC record is, too', 'hello', OURS, OURS],
])('%s', (_, present, wanted, merged) => {
  expect(mergeDmarc(present, wanted)).toBe(merged)
  const [before, after] = [parseDmarc(present), parseDmarc(merged)]
  if (before && after) expect(weakenings(before, after)).toEqual([])
})

test.each([
  ['none', undefined, 'none'],
  ['none', 'reject', 'reject'],
  ['reject', 'quarantine', 'reject'],
  ['quarantine', 'quarantine', 'quarantine'],
] as const)('the stricter of %s and %s is %s', (one, other, result) => {
  expect(strictest(one, other)).toBe(result)
})
