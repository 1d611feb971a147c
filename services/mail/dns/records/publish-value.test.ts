/** DMARC values to publish where DNS has a policy: of the domain itself, or of one above it. */
import { expect, test } from 'vitest'
import type { DmarcPolicy } from './dmarc.ts'
import { publishValue } from './publish-value.ts'

const RUA = 'v=DMARC1; p=none; rua=mailto:d@in.example.net'

test.each<[string, string, string[], DmarcPolicy | undefined, string]>([
  ['no policy anywhere', 'v=DMARC1; p=none', [], undefined, 'v=DMARC1; p=none'],
  ['quarantine above', 'v=DMARC1; p=none', [], 'quarantine', 'v=DMARC1; p=quarantine'],
  ['reject above, and addresses of ours', RUA, [], 'reject', 'v=DMARC1; p=reject; rua=mailto:d@in.example.net'],
  ['none above', 'v=DMARC1; p=none', [], 'none', 'v=DMARC1; p=none'],
  ['a weaker policy above than chosen', 'v=DMARC1; p=reject', [], 'quarantine', 'v=DMARC1; p=reject'],
  ['a record of another kind', 'v=DMARC1; p=none', ['hello'], 'quarantine', 'v=DMARC1; p=quarantine'],
  ['a record of its own', 'v=DMARC1; p=none', ['v=DMARC1; p=reject'], undefined, 'v=DMARC1; p=reject'],
])('%s', (_, value, observed, inherited, published) => {
  expect(publishValue({ id: 'dmarc', purpose: 'dmarc', value }, observed, [], [], inherited)).toBe(published)
})

test('a policy above does not change other records', () => {
  const spf = { id: 'spf', purpose: 'spf', value: 'v=spf1 ip4:192.0.2.10 ~all' } as const
  expect(publishValue(spf, [], ['ip4:192.0.2.10'], [], 'reject')).toBe(spf.value)
  const ownership = { id: 'ownership', purpose: 'ownership', value: 'token' } as const
  expect(publishValue(ownership, [], [], [], 'reject')).toBe('token')
})
