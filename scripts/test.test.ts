/** `npm test` as a contributor without some programs sees it. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'

const FILE = `scripts/missing-${process.pid}.test.ts`
const CASES = `
import { beforeAll, describe, expect, test } from 'vitest'
import { MissingProgram } from '../test/support/missing-program.ts'
test('runs', () => expect(1).toBe(1))
test('lacks one', () => { throw new MissingProgram('there is no frobnicate', 'frob') })
describe('a server', () => {
  beforeAll(() => { throw new MissingProgram('there is no served', 'served-bin') })
  test('starts', () => expect(1).toBe(2))
})
`

test.each([
  { ci: undefined, line: '1 passed, 0 failed, 2 skipped', status: 0 },
  { ci: 'true', line: '1 passed, 2 failed, 0 skipped', status: 1 },
])(
  'a test that lacks a program is skipped by name, with the command that brings it (CI=$ci)',
  ({ ci, line, status }) => {
    writeFileSync(FILE, CASES)
    onTestFinished(() => rmSync(FILE))
    const { CI: _, RESULT_FILE: __, ...env } = process.env
    const run = spawnSync(process.execPath, ['scripts/test.ts', '--no-install', '--project', 'unit', FILE], {
      encoding: 'utf8',
      env: { ...env, ...(ci && { CI: ci }) },
    })
    const ended = run.stdout.split('\n')
    expect(ended).toContain(line)
    const skipped = ended.filter(one => one.startsWith('skipped: '))
    expect(skipped).toHaveLength(2)
    expect(skipped[0]).toContain('lacks one (there is no frobnicate; to run this test: apt-get install')
    expect(skipped[1]).toContain('a server starts (there is no served; to run this test: apt-get install')
    expect(run.status).toBe(status)
  },
)

test('the packages that tests need are one list, which the installer of CI uses', () => {
  const packages = readFileSync('test/packages', 'utf8')
    .split('\n')
    .filter(line => line && !line.startsWith('#'))
  expect(packages).toEqual(packages.toSorted())
  expect(packages).toEqual(expect.arrayContaining(['bind9', 'chromium', 'knot', 'postfix', 'swaks']))
  expect(readFileSync('.ci/run', 'utf8')).toContain('npm run --silent packages')
})
