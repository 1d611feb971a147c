import { expect, test } from 'vitest'
import { isAuthenticated } from './authenticated-domain.ts'

const rows = (...verified: string[]) => verified.map(row => ({ row, status: 'verified' }))

test.each<[string, { row: string; status: string }[], boolean]>([
  ['never checked', [], false],
  ['SPF, DKIM and DMARC', rows('spf', 'dkim:s1', 'dmarc'), true],
  ['one of two keys', [...rows('spf', 'dmarc', 'dkim:s1'), { row: 'dkim:s2', status: 'failed' }], true],
  ['no SPF', rows('dkim:s1', 'dmarc', 'ownership'), false],
  ['no DMARC', rows('dkim:s1', 'spf'), false],
  ['no DKIM', rows('spf', 'dmarc'), false],
  ['a failed record', [...rows('spf', 'dkim:s1'), { row: 'dmarc', status: 'failed' }], false],
  ['no answer of DNS', [...rows('spf', 'dkim:s1'), { row: 'dmarc', status: 'temporary_failure' }], false],
])('%s', (_, records, expected) => expect(isAuthenticated(records)).toBe(expected))
