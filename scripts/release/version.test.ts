/** Versions: what is accepted, and their order. */
import { expect, test } from 'vitest'
import { checkVersion, compareVersions, finalVersion, isPrerelease } from './version.ts'

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
