/** Versions: what is accepted, and their order. */
import { expect, test } from 'vitest'
import { distTag } from './pages.ts'
import { checkVersion, compareVersions, finalVersion, isNewestFinal, isPrerelease, lineOf } from './version.ts'

test.each(['0.1.0', '1.2.3', '10.20.30', '1.0.0-rc.1', '1.0.0-alpha-2.x', '2026.11.24'])('accepts %s', version => {
  expect(checkVersion(version)).toBe(version)
})

test.each([
  ...['', 'v1.2.3', '1.2', '1.2.3.4', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+build', '1.2.3 ', '1.2.3\n', '1.2.3-a..b'],
  ...['1.2.1234567', `1.2.3-${'a'.repeat(60)}`, 'latest', '--dry-run', '1.2.3;id'],
])('refuses %j', version => {
  expect(() => checkVersion(version)).toThrow(/is not a version: write X\.Y\.Z/)
})

test('a list in order is in order by every pair', () => {
  const ordered = [
    ...['0.1.0', '0.1.1', '0.2.0', '0.10.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta'],
    ...['1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '2.0.0'],
  ]
  for (const [i, a] of ordered.entries())
    for (const [j, b] of ordered.entries())
      expect(Math.sign(compareVersions(a, b)), `${a} and ${b}`).toBe(Math.sign(i - j))
})

test('a candidate has a final version', () => {
  expect([isPrerelease('1.2.0-rc.1'), isPrerelease('1.2.0')]).toEqual([true, false])
  expect([finalVersion('1.2.0-rc.1'), finalVersion('1.2.0')]).toEqual(['1.2.0', '1.2.0'])
})

test.each<[string, string[], boolean, string]>([
  ['0.1.0', [], true, 'latest'],
  ['0.1.0', ['0.1.0'], true, 'latest'],
  ['1.2.0', ['1.1.9', '1.2.0-rc.3', '0.9.0'], true, 'latest'],
  // A candidate of the next version does not count, and is never the latest.
  ['1.2.1', ['1.2.0', '2.0.0-rc.1'], true, 'latest'],
  ['2.0.0-rc.1', ['1.2.0'], false, 'next'],
  ['2.0.0-rc.1', [], false, 'next'],
  ['1.2.2', ['1.2.1', '1.3.0'], false, 'release-1.2'],
  ['1.9.10', ['1.10.0'], false, 'release-1.9'],
  ['1.10.1', ['1.9.10', '1.10.0'], true, 'latest'],
])('%s beside %j: newest %s, tag %s', (version, others, isNewest, tag) => {
  expect([isNewestFinal(version, others), distTag(version, others)]).toEqual([isNewest, tag])
})

test.each([
  ['1.2.3', '1.2'],
  ['10.20.30', '10.20'],
  ['1.2.0-rc.1', '1.2'],
])('%s is of the line %s', (version, line) => {
  expect(lineOf(version)).toBe(line)
})
