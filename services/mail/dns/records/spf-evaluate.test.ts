import { describe, expect, test } from 'vitest'
import { zoneLookup } from '../../../../test/support/dns/lookup-table.ts'
import { evaluateSpf } from './spf-evaluate.ts'

const IP = '192.0.2.10'
const zone = {
  'TXT inner.example': ['v=spf1 ip4:192.0.2.0/24 -all'],
  'TXT fails.example': ['v=spf1 -ip4:192.0.2.10 ip4:192.0.2.0/24'],
  'TXT two.example': ['v=spf1 -all', 'v=spf1 mx -all'],
  'TXT none.example': ['site=verification'],
  'TXT loop.example': ['v=spf1 include:loop2.example -all'],
  'TXT loop2.example': ['v=spf1 include:loop.example -all'],
  'TXT broken.example': ['v=spf1 ipv4:1.2.3.4 -all'],
  'A host.example': ['192.0.2.77'],
  'AAAA host6.example': ['2001:db8::99'],
  'MX mx.example': ['10 host.example'],
  'MX many.example': Array.from({ length: 11 }, (_, i) => `10 h${i}.example`),
  ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`TXT s${i}.example`, ['v=spf1 ip4:198.51.100.1 ~all']])),
}
const run = (txt: string, addresses = [IP], more: Record<string, string[] | 'servfail'> = {}) =>
  evaluateSpf('d.example', txt, addresses, zoneLookup({ ...zone, ...more }))

describe('result for our address', () => {
  test.each([
    ['v=spf1 ip4:192.0.2.10 -all', 'pass'],
    ['v=spf1 ip4:192.0.2.0/28 -all', 'pass'],
    ['v=spf1 ip4:192.0.2.16/28 -all', 'fail'],
    ['v=spf1 ~all', 'softfail'],
    ['v=spf1 mx', 'neutral'],
    ['v=spf1 ?ip4:192.0.2.10 -all', 'neutral'],
    ['v=spf1 include:inner.example -all', 'pass'],
    ['v=spf1 include:fails.example ~all', 'softfail'],
    ['v=spf1 redirect=inner.example', 'pass'],
    ['v=spf1 redirect=inner.example ?all', 'neutral'],
    ['v=spf1 a:host.example/24 -all', 'pass'],
    ['v=spf1 a:host.example -all', 'fail'],
    ['v=spf1 mx:mx.example/24//64 -all', 'pass'],
    ['v=spf1 exists:host.example -all', 'pass'],
    ['v=spf1 exists:%{i}.x.example -all', 'fail'],
    ['v=spf1 include:two.example -all', 'permerror'],
    ['v=spf1 include:none.example -all', 'permerror'],
    ['v=spf1 include:nowhere.example -all', 'permerror'],
    ['v=spf1 include:loop.example -all', 'permerror'],
    ['v=spf1 ip4:192.0.2.10 include:broken.example -all', 'permerror'],
    ['v=spf1 mx:many.example -all', 'permerror'],
  ])('%s gives %s', async (txt, result) => expect((await run(txt)).results[IP]).toBe(result))

  test('each address family is evaluated by itself', async () => {
    const { results } = await run('v=spf1 ip6:2001:db8::/64 a:host6.example -all', ['2001:db8::1', IP])
    expect(results).toEqual({ '2001:db8::1': 'pass', [IP]: 'fail' })
  })
})

describe('limits', () => {
  const includes = (count: number) => Array.from({ length: count }, (_, i) => `include:s${i}.example`).join(' ')
  test('ten lookups are fine, eleven are not, and both are counted', async () => {
    expect(await run(`v=spf1 ${includes(10)} ip4:${IP} -all`)).toMatchObject({
      lookups: 10,
      errors: [],
      results: { [IP]: 'pass' },
    })
    expect(await run(`v=spf1 ip4:${IP} ${includes(11)} -all`)).toMatchObject({
      lookups: 11,
      errors: [{ code: 'dns.spf_lookups', params: { count: 11, limit: 10 } }],
      results: { [IP]: 'permerror' },
    })
  })
  test.each([
    ['lookups', `v=spf1 ip4:${IP} -all ${includes(11)}`, 0],
    ['lookups that find nothing', `v=spf1 ip4:${IP} ~all a:n1.example a:n2.example mx:n3.example`, 0],
    ['a record that is missing', `v=spf1 ip4:${IP} -all include:nowhere.example`, 0],
    ['a redirect into nothing', `v=spf1 ip4:${IP} -all redirect=nowhere.example`, 0],
    ['all of that in an included record', 'v=spf1 include:tail.example -all ptr', 1],
  ])('terms after all are never evaluated: %s', async (_, txt, lookups) =>
    expect(
      await run(txt, [IP], { 'TXT tail.example': [`v=spf1 ip4:${IP} ?all include:nowhere.example ${includes(11)}`] }),
    ).toMatchObject({ lookups, voids: 0, errors: [], warnings: [], results: { [IP]: 'pass' } }),
  )
  test('a term behind all that cannot be read is an error all the same', async () =>
    expect((await run(`v=spf1 ip4:${IP} -all ipv4:1.2.3.4`)).results[IP]).toBe('permerror'))
  test('lookups of nested records and of redirect count', async () => {
    expect(
      (
        await run('v=spf1 include:loop2x.example mx:mx.example a redirect=inner.example', [IP], {
          'TXT loop2x.example': ['v=spf1 a:host.example -all'],
          'A d.example': ['203.0.113.1'],
        })
      ).lookups,
    ).toBe(5)
  })
  test('more than two lookups without an answer are an error', async () => {
    const { voids, errors } = await run('v=spf1 a:n1.example a:n2.example a:n3.example -all')
    expect(voids).toBe(3)
    expect(errors).toEqual([{ code: 'dns.spf_void_lookups', params: { count: 3, limit: 2 } }])
  })
  test('a record that fans out for ever is left after a bound', async () => {
    const fan = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        `TXT f${i}.example`,
        [`v=spf1 include:f${i + 1}.example include:f${i + 2}.example`],
      ]),
    )
    const evaluation = await run('v=spf1 include:f0.example', [IP], fan)
    expect(evaluation.results[IP]).toBe('permerror')
    expect(evaluation.lookups).toBeLessThan(100)
  })
  test('a temporary failure is neither a void lookup nor an error', async () => {
    expect(await run('v=spf1 include:down.example -all', [IP], { 'TXT down.example': 'servfail' })).toMatchObject({
      temporary: true,
      voids: 0,
      errors: [],
    })
  })
  test.each([
    ['three hosts that cannot be looked up', 'v=spf1 a:x1.example a:x2.example a:x3.example -all', 'temperror'],
    ['three mail exchangers', 'v=spf1 mx:x1.example mx:x2.example mx:x3.example -all', 'temperror'],
    ['conditions', 'v=spf1 exists:x1.example exists:x2.example exists:x3.example ~all', 'temperror'],
    ['an inclusion before the end', 'v=spf1 include:x1.example -all', 'temperror'],
    ['a redirect', 'v=spf1 redirect=x1.example', 'temperror'],
    ['beside a term that passes', 'v=spf1 a:x1.example a:x2.example a:x3.example ip4:192.0.2.10 -all', 'pass'],
  ])('servers that fail for now make no permanent error: %s', async (_, txt, result) => {
    const down = Object.fromEntries(
      ['x1', 'x2', 'x3'].flatMap(name =>
        ['A', 'AAAA', 'MX', 'TXT'].map(type => [`${type} ${name}.example`, 'servfail' as const]),
      ),
    )
    expect(await run(txt, [IP], down)).toMatchObject({
      temporary: true,
      voids: 0,
      errors: [],
      results: { [IP]: result },
    })
  })
  test('ptr is warned of', async () => expect((await run('v=spf1 ptr -all')).warnings).toHaveLength(1))
})
