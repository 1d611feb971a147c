import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { toSets } from './endpoint-sets.ts'
import type { Endpoint } from './protocol.ts'

const run = promisify(execFile)
const OWNERSHIP = '"heritage=external-dns,external-dns/owner=team"'
const record = (dnsName: string, recordType = 'A', targets = ['192.0.2.7']): Endpoint => ({
  ...{ dnsName, recordType, targets },
})
const owner = (dnsName: string) => record(dnsName, 'TXT', [OWNERSHIP])
const isForeign = (endpoints: Endpoint[], name: string, type = 'A') =>
  toSets(endpoints, 'zone.test').find(set => set.name === name && set.type === type)?.foreign ?? false

describe('sets of a zone', () => {
  test.each<[string, string, boolean]>([
    ['the zone itself', 'zone.test', true],
    ['a name below it', 'a.b.zone.test', true],
    ['another form of a name', 'X.ZONE.TEST.', true],
    ['a name that people read', 'bücher.zone.test', true],
    ['the parent', 'test', false],
    ['a sibling', 'other.test', false],
    ['a name that ends alike', 'notzone.test', false],
    ['no name', '', false],
    ['a name too long for DNS', `${'a.'.repeat(300)}zone.test`, false],
  ])('%s', (_, dnsName, isIncluded) => {
    expect(toSets([record(dnsName)], 'zone.test')).toHaveLength(isIncluded ? 1 : 0)
  })

  test('the ownership record of the zone itself, which is outside, counts and is not in the list', () => {
    const sets = toSets([record('zone.test'), owner('a-zone.test')], 'zone.test')
    expect(sets.map(({ name, foreign }) => [name, foreign])).toEqual([['zone.test', true]])
  })
})

describe('what an ownership record speaks of', () => {
  test.each<[string, string, string, string, boolean]>([
    ['the same name', 'www.zone.test', 'www.zone.test', 'A', true],
    ['the name after the type', 'a-www.zone.test', 'www.zone.test', 'A', true],
    ['the type in other letters', 'cname-www.zone.test', 'www.zone.test', 'CNAME', true],
    ['another type', 'aaaa-www.zone.test', 'www.zone.test', 'A', false],
    ['a prefix with a dot', 'edns.a-www.zone.test', 'www.zone.test', 'A', true],
    ['a prefix with a hyphen', 'edns-a-www.zone.test', 'www.zone.test', 'A', true],
    ['a prefix with a low line', 'edns_a-www.zone.test', 'www.zone.test', 'A', true],
    ['a prefix that is part of a word', 'ednsa-www.zone.test', 'www.zone.test', 'A', false],
    ['a suffix', 'a-www-edns.zone.test', 'www.zone.test', 'A', true],
    ['a suffix with a dot', 'a-www-edns.txt.zone.test', 'www.zone.test', 'A', true],
    ['a suffix without a hyphen', 'a-www2.zone.test', 'www.zone.test', 'A', false],
    ['the same label of another parent', 'a-www-edns.sub.zone.test', 'www.other.zone.test', 'A', false],
    ['a name below', 'a-www.sub.zone.test', 'www.zone.test', 'A', false],
  ])('%s', (_, ownership, name, type, expected) => {
    const others = ['a-aaa.zone.test', 'a-zzz.zone.test', 'x.a-mmm.zone.test'].map(owner)
    expect(isForeign([record(name, type), ...others, owner(ownership)], name, type)).toBe(expected)
  })

  test('a text that is no ownership record owns nothing', () => {
    const text = record('a-www.zone.test', 'TXT', ['"heritage=external-dnsx"'])
    expect(isForeign([record('www.zone.test'), text], 'www.zone.test')).toBe(false)
  })
})

// Each with each would take a minute.
test('the largest list of a hostile provider is read in little time', () => {
  const sets = Array.from({ length: 25_000 }, (_, n) => record(`h${n}.zone.test`))
  const owners = Array.from({ length: 25_000 }, (_, n) => owner(`b-h${n}-a-a-a-a.x.y.zone.test`))
  const started = performance.now()
  expect(
    toSets([...sets, ...owners, owner('a-h7.zone.test')], 'zone.test').filter(set => set.type === 'A'),
  ).toHaveLength(25_000)
  expect(performance.now() - started).toBeLessThan(10_000)
}, 60_000)

/** Values of 64 KiB, 4 MiB together: as much as one answer may have. */
const LONGEST = 64 * 1024
const inSmallHeap = (target: string) => `
  import { toSets } from ${JSON.stringify(new URL('./endpoint-sets.ts', import.meta.url).href)}
  const targets = Array.from({ length: 64 }, () => ${target})
  const sets = toSets([{ dnsName: 'zone.test', recordType: 'TXT', targets }], 'zone.test')
  process.exit(sets.length === 1 && sets[0].values.length > 0 ? 0 : 1)`

describe('an answer of 4 MiB that is made to be expensive fits into a heap of 64 MiB', () => {
  test.each<[string, string]>([
    ['backslashes', `'\\\\'.repeat(${LONGEST})`],
    ['backslashes in quotes', `'"' + '\\\\'.repeat(${LONGEST - 2}) + '"'`],
    ['numbers', `'\\\\000'.repeat(${LONGEST / 4})`],
    ['empty strings', `'""'.repeat(${LONGEST / 2})`],
    ['quotes that do not end', `'"'.repeat(${LONGEST - 1}) + 'x'`],
    ['blanks', `'"' + ' '.repeat(${LONGEST - 1})`],
    ['parts that go on', `'x'.repeat(255)`],
  ])('%s', async (_, target) => {
    await run(process.execPath, ['--max-old-space-size=64', '--input-type=module', '--eval', inSmallHeap(target)])
  })
})
