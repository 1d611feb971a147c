import { expect, test } from 'vitest'
import { type CertificateFacts, certificateStatus, findCertificateErrors } from './certificate.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const days = (count: number) => new Date(NOW.getTime() + count * 86_400_000)
const GOOD: CertificateFacts = {
  names: ['mail.example.com'],
  notBefore: days(-10),
  notAfter: days(80),
  selfSigned: false,
  key: 'EC P-256',
}

test.each([
  [{}, [], 'ok'],
  [{ names: ['MAIL.example.com'] }, [], 'ok'],
  [{ names: ['*.example.com'] }, [], 'ok'],
  [{ names: ['example.com', '*.mail.example.com', '192.0.2.1'] }, ['name_missing'], 'failing'],
  [{ names: [] }, ['name_missing'], 'failing'],
  [{ notAfter: days(-1) }, ['expired'], 'failing'],
  [{ notBefore: days(1) }, ['not_yet_valid'], 'failing'],
  [{ notAfter: days(6) }, ['expires_soon'], 'failing'],
  [{ notAfter: days(20) }, ['expires_in_weeks'], 'warning'],
  [{ notAfter: days(21) }, [], 'ok'],
  [{ selfSigned: true }, ['self_signed'], 'warning'],
  [{ key: 'RSA 1024' }, ['weak_key'], 'warning'],
  [{ key: 'RSA 2048' }, [], 'ok'],
  [
    { notAfter: days(-1), names: ['x.example'], selfSigned: true },
    ['expired', 'name_missing', 'self_signed'],
    'failing',
  ],
] as [Partial<CertificateFacts>, string[], string][])('%o has %o and is %s', (change, errors, status) => {
  const found = findCertificateErrors({ ...GOOD, ...change }, 'mail.example.com', NOW)
  expect(found).toEqual(errors)
  expect(certificateStatus(found)).toBe(status)
})
