import { describe, expect, test } from 'vitest'
import { DAY_MS, utcDayOf } from '../../../platform/durations.ts'
import type { FetchedPolicy } from './mta-sts.ts'
import { reportDueAt } from './report-schedule.ts'
import {
  failureOfCode,
  failuresOf,
  isPolicyDomain,
  mxOf,
  NO_POLICY,
  reportedPolicyOf,
  type SessionTls,
  type TlsResultType,
} from './tls-results.ts'

describe('a code of a failed handshake', () => {
  test.each<[string | undefined, TlsResultType]>([
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate-host-mismatch'],
    ['HOSTNAME_MISMATCH', 'certificate-host-mismatch'],
    ['CERT_HAS_EXPIRED', 'certificate-expired'],
    ['CERT_NOT_YET_VALID', 'certificate-not-trusted'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate-not-trusted'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-not-trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate-not-trusted'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate-not-trusted'],
    ['CERT_REVOKED', 'certificate-not-trusted'],
    ['INVALID_CA', 'certificate-not-trusted'],
    ['ERR_SSL_CERTIFICATE_VERIFY_FAILED', 'certificate-not-trusted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'validation-failure'],
    ['ECONNRESET', 'validation-failure'],
    ['ETIMEDOUT', 'validation-failure'],
  ])('%s is %s', (code, type) => {
    expect(failureOfCode(code)).toEqual({ type, reason: code })
  })

  test('without a code is a failure without a reason', () => {
    expect(failureOfCode(undefined)).toEqual({ type: 'validation-failure' })
  })

  test('with a text for a code is reduced to letters of one line', () => {
    expect(failureOfCode(`bad "text"\r\n${'x'.repeat(100)}`).reason).toMatch(/^bad text x{51}$/)
  })
})

const STS = reportedPolicyOf({ id: '1', mode: 'testing', mx: ['*.example.net'], fetched: 0, expires: DAY_MS })
const SESSION: SessionTls = {
  host: 'mx.example.net',
  tls: { version: 'TLSv1.3', verified: true },
  certificateError: undefined,
  clearCause: undefined,
}
const unverified = (code: string) => ({ tls: { version: 'TLSv1.3', verified: false }, certificateError: code })

describe('an open session', () => {
  test.each<[string, Partial<SessionTls>, string[], string[]]>([
    ['with a good certificate', {}, [], []],
    ['with an expired certificate', unverified('CERT_HAS_EXPIRED'), [], ['certificate-expired CERT_HAS_EXPIRED']],
    [
      'at a host that the policy does not name',
      { host: 'mx.else.example' },
      [],
      ['validation-failure mx-not-in-policy'],
    ],
    [
      'at such a host with a bad certificate',
      { host: 'mx.else.example', ...unverified('DEPTH_ZERO_SELF_SIGNED_CERT') },
      [],
      ['validation-failure mx-not-in-policy', 'certificate-not-trusted DEPTH_ZERO_SELF_SIGNED_CERT'],
    ],
    ['of an old version', { tls: { version: 'TLSv1.1', verified: true } }, [], ['validation-failure TLSv1.1']],
    ['in clear', { tls: undefined }, ['starttls-not-supported'], ['starttls-not-supported']],
    [
      'in clear because a handshake failed before',
      { tls: undefined, clearCause: { type: 'validation-failure', reason: 'ECONNRESET' } },
      ['validation-failure ECONNRESET'],
      ['validation-failure ECONNRESET'],
    ],
  ])('%s fails as its policy asks', (_, given, withoutPolicy, underSts) => {
    const shown = (policy: typeof STS) =>
      failuresOf({ ...SESSION, ...given }, policy).map(({ type, reason }) => [type, reason].filter(Boolean).join(' '))
    expect(shown(NO_POLICY)).toEqual(withoutPolicy)
    expect(shown(STS)).toEqual(underSts)
  })
})

describe('a policy in a report', () => {
  test('has its lines, and a key that changes with them', () => {
    const policy: FetchedPolicy = {
      ...{ id: '7', mode: 'enforce', mx: ['mx1.example.net', '*.mail.example.net'] },
      ...{ fetched: 1_000, expires: 1_000 + DAY_MS },
    }
    const reported = reportedPolicyOf(policy)
    expect(reported).toEqual({
      key: expect.stringMatching(/^sts[\da-f]{16}$/),
      type: 'sts',
      strings: ['version: STSv1', 'mode: enforce', 'mx: mx1.example.net', 'mx: *.mail.example.net', 'max_age: 86400'],
    })
    expect(mxOf(reported)).toEqual(['mx1.example.net', '*.mail.example.net'])
    expect(reportedPolicyOf({ ...policy, id: '8' }).key).toBe(reported.key)
    expect(reportedPolicyOf({ ...policy, mode: 'testing' }).key).not.toBe(reported.key)
  })

  test('names fifty hosts at most', () => {
    const mx = Array.from({ length: 3_000 }, (_, n) => `mx${n}.example.net`)
    expect(mxOf(reportedPolicyOf({ id: '1', mode: 'enforce', mx, fetched: 0, expires: 1 }))).toEqual(mx.slice(0, 50))
  })

  test.each<[string, FetchedPolicy | undefined, object]>([
    ['nothing known', undefined, NO_POLICY],
    ['no record', { id: false, mode: 'none' }, NO_POLICY],
    ['a policy of mode none', { id: '1', mode: 'none', mx: [], fetched: 0, expires: 1 }, NO_POLICY],
    [
      'a file that is not valid',
      { id: '1', mode: 'none', expires: 1, failure: 'sts-policy-invalid' },
      { ...NO_POLICY, failure: 'sts-policy-invalid' },
    ],
  ])('is none with %s', (_, policy, expected) => {
    expect(reportedPolicyOf(policy)).toEqual(expected)
  })
})

test.each([
  ['example.net', true],
  ['xn--bcher-kva.example', true],
  ['a_b.example.net', true],
  ['[127.0.0.1]', false],
  ['127.0.0.1', false],
  ['[ipv6:2001:db8::1]', false],
  ['localhost', false],
  ['', false],
  ['a..example', false],
  ['-a.example', false],
  [`${'a'.repeat(64)}.example`, false],
  [`${'a.'.repeat(127)}example`, false],
  ['a.example/b', false],
])('%s publishes a policy: %s', (domain, expected) => {
  expect(isPolicyDomain(domain)).toBe(expected)
})

test('reports of a day are due within some hours after it, spread over domains, at the same time for each worker', () => {
  const end = Date.UTC(2026, 10, 24)
  const minutes = Array.from({ length: 1_000 }, (_, n) =>
    Math.floor((reportDueAt('2026-11-23', `d${n}.example`).getTime() - end) / 60_000),
  )
  expect(Math.min(...minutes)).toBeGreaterThanOrEqual(15)
  expect(Math.max(...minutes)).toBeLessThan(15 + 6 * 60)
  const perHour = Map.groupBy(minutes, minute => Math.floor((minute - 15) / 60))
  expect([...perHour.values()].map(({ length }) => length > 100 && length < 240)).toEqual(Array(6).fill(true))
  expect(reportDueAt('2026-11-23', 'a.example')).toEqual(reportDueAt('2026-11-23', 'a.example'))
  expect(utcDayOf(new Date(end - 1))).toBe('2026-11-23')
})
