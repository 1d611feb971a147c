import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { domainOfToken, readReportAddress, reportAddress, reportToken } from './report-address.ts'

const mac =
  (...keys: string[]) =>
  (value: string) =>
    keys.map(key => createHmac('sha256', key).update(value).digest())
const current = mac('key')

test('a token names its domain, in any case, also under the previous key', () => {
  const id = newId('dom')
  for (const kind of ['dmarc', 'tls'] as const) {
    const token = reportToken(kind, id, current)
    expect(token).toMatch(/^[\da-z]{46}$/)
    expect(domainOfToken(kind, token, current)).toBe(id)
    expect(domainOfToken(kind, token.toUpperCase(), mac('new', 'key'))).toBe(id)
    expect(domainOfToken(kind, token, mac('new'))).toBeUndefined()
  }
})

test.each<[string, (token: string) => string]>([
  ['of the other kind', () => reportToken('tls', 'dom_1', current)],
  ['of another domain', token => `2${token.slice(1)}`],
  ['with another signature', token => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
  ['that is too short', token => token.slice(1)],
  ['of a signature alone', token => token.slice(-20)],
  ['that is empty', () => ''],
  ['with another character', token => `${token}.`],
])('a token %s is refused', (_, change) => {
  expect(domainOfToken('dmarc', change(reportToken('dmarc', 'dom_1', current)), current)).toBeUndefined()
})

test('an address is read back, in any case', () => {
  const token = reportToken('dmarc', newId('dom'), current)
  const address = reportAddress('dmarc', token, 'bounce.example.net')
  expect(address.indexOf('@')).toBeLessThanOrEqual(64) // RFC 5321 section 4.5.3.1.1
  expect(readReportAddress(address, 'bounce.example.net')).toEqual({ kind: 'dmarc', token })
  expect(readReportAddress(address.toUpperCase(), 'Bounce.example.net')).toEqual({ kind: 'dmarc', token })
  expect(readReportAddress(reportAddress('tls', token, 'b.example'), 'b.example')?.kind).toBe('tls')
})

test.each([
  'dmarc+abc@other.example',
  'dmarc@bounce.example.net',
  'dmarc+@bounce.example.net',
  'bounce+abc@bounce.example.net',
  'xdmarc+abc@bounce.example.net',
  'dmarc+a.b@bounce.example.net',
  `dmarc+${'a'.repeat(58)}@bounce.example.net`,
  'dmarc+abc',
  '',
])('%j is no address for reports', address => {
  expect(readReportAddress(address, 'bounce.example.net')).toBeUndefined()
})
