import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY_MS } from '../../../platform/durations.ts'
import { makeCertificate } from '../../../platform/security/self-signed-certificate.ts'
import type { FetchedPolicy, StsFailure } from '../rules/mta-sts.ts'
import { fetchStsPolicy, type ResolveRecords } from './sts-policy.ts'

const NONE: FetchedPolicy = { id: false, mode: 'none' }
const FILE = 'version: STSv1\nmode: enforce\nmx: mx.example.net\nmax_age: 60\n'
const NOW = 1_000_000

interface Answer {
  status?: number
  type?: string
  body?: string
  location?: string
}

/** DNS of example.net, whose policy host is on the loopback; a name without records is answered like an unknown one. */
function zone(records: Record<string, unknown[]> = {}): ResolveRecords {
  const known: Record<string, unknown[]> = {
    'TXT _mta-sts.example.net': [['v=STSv1; ', 'id=1']],
    'A mta-sts.example.net': ['127.0.0.1'],
    ...records,
  }
  return async (name, type) => {
    const found = known[`${type} ${name}`]
    if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    return found
  }
}

/** A policy host with a certificate for these names. */
async function policyHost(
  { status = 200, type = 'text/plain', body = FILE, location }: Answer = {},
  names = ['mta-sts.example.net'],
) {
  const { cert, key } = await makeCertificate(names, 1, new Date())
  const paths: string[] = []
  const server = createServer({ cert, key }, (incoming, response) => {
    paths.push(`${incoming.headers.host?.split(':')[0]}${incoming.url}`)
    response.writeHead(status, { 'content-type': type, ...(location && { location }) }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const time = { now: NOW }
  const options = { allowPrivate: true, now: () => time.now, ca: cert, port: (server.address() as AddressInfo).port }
  return { options, paths, time }
}

test('a policy is downloaded from the policy host and expires at its age', async () => {
  const { options, paths } = await policyHost({ type: 'text/plain; charset=utf-8' })
  const found = await fetchStsPolicy(zone(), options)('example.net', undefined)
  expect(found).toEqual({ id: '1', mode: 'enforce', mx: ['mx.example.net'], fetched: NOW, expires: NOW + 60_000 })
  expect(paths).toEqual(['mta-sts.example.net/.well-known/mta-sts.txt'])
})

test('a domain in Unicode is looked up in its ASCII form', async () => {
  const asked: string[] = []
  const resolve: ResolveRecords = async (name, type) => void asked.push(`${type} ${name}`)
  expect(await fetchStsPolicy(resolve, { allowPrivate: false, now: () => NOW })('bücher.example', undefined)).toEqual(
    NONE,
  )
  expect(asked).toEqual(['TXT _mta-sts.xn--bcher-kva.example'])
})

const KNOWN: FetchedPolicy = { id: '1', mode: 'enforce', mx: ['old.example.net'], expires: NOW + 1 }
const OTHER = { ...KNOWN, id: '0' }

test('a known policy is not downloaded again while its id is in DNS, until it expires', async () => {
  const { options, paths, time } = await policyHost()
  const fetch = fetchStsPolicy(zone(), options)
  expect(await fetch('example.net', KNOWN)).toEqual(KNOWN)
  expect(paths).toEqual([])
  expect(await fetch('example.net', OTHER)).toMatchObject({ id: '1', mx: ['mx.example.net'] })
  time.now += 1
  expect(await fetch('example.net', KNOWN)).toMatchObject({ mx: ['mx.example.net'] })
})

const UNREACHED: FetchedPolicy = { ...NONE, failure: 'sts-policy-fetch-error' }

test.each<[string, Record<string, unknown[]>, FetchedPolicy?]>([
  ['no record', { 'TXT _mta-sts.example.net': [] }],
  ['another record', { 'TXT _mta-sts.example.net': [['v=spf1 -all']] }],
  ['two records', { 'TXT _mta-sts.example.net': [['v=STSv1; id=1'], ['v=STSv1; id=2']] }],
  ['a policy host without an address', { 'A mta-sts.example.net': [] }, UNREACHED],
  ['a policy host with a host name for an address', { 'A mta-sts.example.net': ['localhost'] }, UNREACHED],
])('with %s in DNS the known policy is used until it expires, else none', async (_, records, none = NONE) => {
  const { options, paths, time } = await policyHost()
  const fetch = fetchStsPolicy(zone(records), options)
  expect(await fetch('example.net', undefined)).toEqual(none)
  expect(await fetch('example.net', OTHER)).toEqual(OTHER)
  time.now += 1
  expect(await fetch('example.net', OTHER)).toEqual(none)
  expect(paths).toEqual([])
})

const later = (failure: StsFailure): FetchedPolicy => ({ id: '1', mode: 'none', expires: NOW + 3_600_000, failure })

describe('a download is refused, the known policy is used, and the id is tried again an hour later', () => {
  test.each<[string, Answer, StsFailure?]>([
    ['404', { status: 404 }],
    ['204', { status: 204, body: '' }],
    ['a redirect', { status: 302, location: 'https://mta-sts.example.net/other' }],
    ['a page', { type: 'text/html' }],
    ['a file that is no policy', { body: 'mode: enforce' }, 'sts-policy-invalid'],
    ['a file of more than 64 KiB', { body: FILE + 'x'.repeat(64 * 1024) }],
  ])('%s', async (_, answer, failure = 'sts-policy-fetch-error') => {
    const { options, paths } = await policyHost(answer)
    const fetch = fetchStsPolicy(zone(), options)
    expect(await fetch('example.net', undefined)).toEqual(later(failure))
    expect(await fetch('example.net', { ...OTHER, mode: 'none' })).toEqual(later(failure))
    expect(await fetch('example.net', OTHER)).toEqual(OTHER)
    expect(paths).toHaveLength(3)
  })

  test.each([
    ['another name', ['www.example.net']],
    ['a part of the leftmost label as a wildcard', ['mta-*.example.net']],
    ['an address', ['127.0.0.1']],
  ])('a certificate for %s', async (_, names) => {
    const { options, paths } = await policyHost({}, names)
    expect(await fetchStsPolicy(zone(), options)('example.net', undefined)).toEqual(later('sts-webpki-invalid'))
    expect(paths).toEqual([])
  })

  test('a certificate of an unknown authority', async () => {
    const { options, paths } = await policyHost()
    const { ca: _, ...untrusting } = options
    expect(await fetchStsPolicy(zone(), untrusting)('example.net', undefined)).toEqual(later('sts-webpki-invalid'))
    expect(paths).toEqual([])
  })
})

test('a certificate with a wildcard for the leftmost label is accepted', async () => {
  const { options } = await policyHost({}, ['*.example.net'])
  expect(await fetchStsPolicy(zone(), options)('example.net', undefined)).toMatchObject({ mode: 'enforce' })
})

test.each([
  ['IPv4', ['127.0.0.1', '127.0.0.2'], []],
  ['IPv6', [], ['::ffff:127.0.0.1', '::1']],
])('a policy host on a private address is never connected to: %s', async (_, a, aaaa) => {
  const { options, paths } = await policyHost()
  const resolve = zone({ 'A mta-sts.example.net': a, 'AAAA mta-sts.example.net': aaaa })
  expect(await fetchStsPolicy(resolve, { ...options, allowPrivate: false })('example.net', undefined)).toEqual(
    UNREACHED,
  )
  expect(paths).toEqual([])
})

describe('a policy with an unchanged id is downloaded again', () => {
  const DAILY: FetchedPolicy = { ...KNOWN, fetched: NOW, expires: NOW + 7 * DAY_MS }

  test('after a day', async () => {
    const { options, paths, time } = await policyHost()
    const fetch = fetchStsPolicy(zone(), options)
    time.now += DAY_MS - 1
    expect(await fetch('example.net', DAILY)).toBe(DAILY)
    expect(paths).toEqual([])
    time.now += 1
    expect(await fetch('example.net', DAILY)).toMatchObject({ mx: ['mx.example.net'], fetched: time.now })
  })

  test('and stays in use until it expires while the policy host fails', async () => {
    const { options, paths, time } = await policyHost({ status: 503 })
    const fetch = fetchStsPolicy(zone(), options)
    time.now += 7 * DAY_MS - 1
    expect(await fetch('example.net', DAILY)).toBe(DAILY)
    time.now += 1
    expect(await fetch('example.net', DAILY)).toMatchObject({ mode: 'none' })
    expect(paths).toHaveLength(2)
  })

  test('and mode none ends it', async () => {
    const { options, time } = await policyHost({ body: 'version: STSv1\nmode: none\nmax_age: 86400\n' })
    time.now += DAY_MS
    expect(await fetchStsPolicy(zone(), options)('example.net', DAILY)).toMatchObject({ mode: 'none', mx: [] })
  })
})
