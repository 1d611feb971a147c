import { describe, expect, test } from 'vitest'
import { createMx, type Lookup } from './mx.ts'

const error = (code: string) => Object.assign(new Error(code), { code })

/** A strict fake of DNS: names that are not listed do not exist. Counts questions. */
function fakeDns(zone: {
  mx?: Record<string, { exchange: string; priority: number }[] | string>
  a?: Record<string, string[] | string>
  aaaa?: Record<string, string[] | string>
  ttl?: number
}) {
  const asked: string[] = []
  const find = <T>(type: string, table: Record<string, T[] | string> = {}, name: string): T[] => {
    asked.push(`${type} ${name}`)
    const found = table[name]
    if (typeof found === 'string') throw error(found)
    if (!found) throw error('ENOTFOUND')
    return found
  }
  const lookup: Lookup = {
    resolveMx: async name => find('MX', zone.mx, name),
    resolve4: async name => find('A', zone.a, name).map(address => ({ address, ttl: zone.ttl ?? 60 })),
    resolve6: async name => find('AAAA', zone.aaaa, name).map(address => ({ address, ttl: zone.ttl ?? 60 })),
  }
  return { lookup, asked }
}

function resolver(zone: Parameters<typeof fakeDns>[0], allowPrivate = false) {
  const { lookup, asked } = fakeDns(zone)
  let now = 0
  const mx = createMx({ lookup, allowPrivate, random: () => 0, now: () => now })
  return { ...mx, asked, later: (ms: number) => (now += ms) }
}

describe('hostsOf', () => {
  test.each([
    [
      'MX records',
      { mx: { 'a.test': [{ exchange: 'mx.a.test', priority: 5 }] } },
      { kind: 'hosts', hosts: ['mx.a.test'] },
    ],
    ['no MX: the domain itself', { mx: { 'a.test': 'ENODATA' } }, { kind: 'hosts', hosts: ['a.test'] }],
    ['null MX', { mx: { 'a.test': [{ exchange: '', priority: 0 }] } }, { kind: 'permanent', enhanced: '5.1.10' }],
    ['no such domain', { mx: {} }, { kind: 'permanent', enhanced: '5.1.2' }],
    ['a server failure', { mx: { 'a.test': 'ESERVFAIL' } }, { kind: 'temporary' }],
    ['a timeout', { mx: { 'a.test': 'ETIMEOUT' } }, { kind: 'temporary' }],
  ])('%s', async (_, zone, expected) => {
    expect(await resolver(zone).hostsOf('a.test')).toMatchObject(expected)
  })

  test.each([
    ['[192.0.2.7]', '192.0.2.7'],
    ['[IPv6:2001:db8::7]', '2001:db8::7'],
  ])('the address literal %s needs no DNS', async (domain, host) => {
    const { hostsOf, asked } = resolver({})
    expect(await hostsOf(domain)).toEqual({ kind: 'hosts', hosts: [host] })
    expect(asked).toEqual([])
  })

  test('answers are kept for five minutes, failures for one, and questions in parallel are one', async () => {
    const { hostsOf, asked, later } = resolver({ mx: { 'a.test': [{ exchange: 'mx.a.test', priority: 5 }] } })
    await Promise.all([hostsOf('a.test'), hostsOf('a.test'), hostsOf('gone.test')])
    expect(asked).toHaveLength(2)
    later(61_000)
    await Promise.all([hostsOf('a.test'), hostsOf('gone.test')])
    expect(asked).toEqual(['MX a.test', 'MX gone.test', 'MX gone.test'])
    later(300_000)
    await hostsOf('a.test')
    expect(asked).toHaveLength(4)
  })
})

describe('addressesOf', () => {
  test.each([
    [
      'IPv4 before IPv6',
      { a: { h: ['8.8.8.8'] }, aaaa: { h: ['2606:4700::1'] } },
      { ips: ['8.8.8.8', '2606:4700::1'] },
    ],
    ['IPv6 only', { a: { h: 'ENODATA' }, aaaa: { h: ['2606:4700::1'] } }, { ips: ['2606:4700::1'] }],
    ['one family fails, the other answers', { a: { h: ['8.8.8.8'] }, aaaa: { h: 'ESERVFAIL' } }, { ips: ['8.8.8.8'] }],
    ['none at all', { a: { h: 'ENODATA' }, aaaa: { h: 'ENODATA' } }, { kind: 'permanent' }],
    ['no such host', {}, { kind: 'permanent' }],
    ['no answer', { a: { h: 'ETIMEOUT' }, aaaa: { h: 'ENODATA' } }, { kind: 'temporary' }],
    ['only private ones', { a: { h: ['10.0.0.1'] }, aaaa: { h: ['::1'] } }, { kind: 'permanent' }],
    ['private ones are left out', { a: { h: ['127.0.0.1', '8.8.8.8'] }, aaaa: {} }, { ips: ['8.8.8.8'] }],
  ])('%s', async (_, zone, expected) => {
    expect(await resolver(zone).addressesOf('h')).toMatchObject(expected)
  })

  test('private addresses count when allowed', async () => {
    expect(await resolver({ a: { h: ['127.0.0.1'] } }, true).addressesOf('h')).toMatchObject({ ips: ['127.0.0.1'] })
    expect(await resolver({}, false).addressesOf('127.0.0.1')).toMatchObject({ kind: 'permanent' })
  })

  test('are kept for their time to live', async () => {
    const { addressesOf, asked, later } = resolver({ a: { h: ['8.8.8.8'] }, ttl: 120 })
    await addressesOf('h')
    later(119_000)
    await addressesOf('h')
    expect(asked).toHaveLength(2)
    later(2_000)
    await addressesOf('h')
    expect(asked).toHaveLength(4)
  })
})
