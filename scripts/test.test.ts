/** `npm test` on a machine without some programs. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PACKAGES } from '../test/support/programs/programs.ts'

const FILE = `scripts/missing-${process.pid}.test.ts`
const CASES = `
import { beforeAll, describe, expect, test } from 'vitest'
import { aptInstall, MissingProgram } from '../test/support/programs/missing-program.ts'
test('runs', () => expect(1).toBe(1))
test('lacks\\none', () => { throw new MissingProgram('there is no frobnicate', 'get frobnicate') })
describe('a server', () => {
  beforeAll(() => { throw new MissingProgram('there is no served', aptInstall('served-bin')) })
  test('starts', () => expect(1).toBe(2))
})
`

/** It starts a mongod and another vitest. */
const RUN_MS = 240_000

/** Not with `spawnSync`: vitest gives up on a worker that does not answer for a minute. */
function runTests(options: readonly string[], env: NodeJS.ProcessEnv): Promise<{ status: number; stdout: string }> {
  const args = ['scripts/test.ts', '--no-install', ...options]
  return new Promise(done => {
    execFile(process.execPath, args, { env, maxBuffer: 1 << 26 }, (error, stdout) =>
      done({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout }),
    )
  })
}

/** Runs `npm test` on a file with these tests. */
function npmTest(cases: string, env: NodeJS.ProcessEnv) {
  writeFileSync(FILE, cases)
  onTestFinished(() => rmSync(FILE))
  return runTests(['--project', 'unit', FILE], env)
}

const { CI: _, RESULT_FILE: __, ...environment } = process.env

test.each([
  { ci: undefined, line: '1 passed, 0 failed, 2 skipped', status: 0 },
  { ci: 'true', line: '1 passed, 2 failed, 0 skipped', status: 1 },
])(
  'skips a test that lacks a program, with its name and the command that installs the program (CI=$ci)',
  async ({ ci, line, status }) => {
    const run = await npmTest(CASES, { ...environment, ...(ci && { CI: ci }) })
    const ended = run.stdout.split('\n')
    expect(ended).toContain(line)
    const skipped = ended.filter(one => one.startsWith('skipped: '))
    expect(skipped).toHaveLength(2)
    expect(skipped[0]).toContain('lacks one (there is no frobnicate; to run this test: get frobnicate')
    expect(skipped[1]).toContain('a server starts (there is no served; to run this test: apt-get install')
    expect(run.status).toBe(status)
  },
  RUN_MS,
)

/** The code in a test that needs the program, and the command that must be printed. */
const NEEDS: readonly (readonly [name: string, use: string, command: string])[] = [
  ['mongod', "await (await load('database/test-database')).freshDatabase()", 'apt-get install'],
  [
    'a mongod of its own',
    "await (await load('database/test-mongod')).startTestMongod()",
    'python3-pip, or set MONGOD_BINARY',
  ],
  [
    'a complete Postwright',
    "await (await load('processes/postwright-process')).trialSettings('/tmp')",
    'set MONGOD_BINARY',
  ],
  [
    'named',
    "await (await load('dns/authoritative-servers')).startDnsServer('bind', [])",
    'apt-get install --no-install-recommends bind9',
  ],
  [
    'knotd',
    "await (await load('dns/authoritative-servers')).startDnsServer('knot', [])",
    'apt-get install --no-install-recommends knot',
  ],
  ['postfix', "await (await load('mail/postfix')).startPostfix('x.test')", 'postfix libsasl2-modules'],
  ['chromium', "await (await load('../panel/support/browser')).startBrowser()", 'chromium fonts-wqy-microhei'],
  [
    'python3',
    "await (await load('programs/python')).runPython('', '')",
    'apt-get install --no-install-recommends python3',
  ],
  ['dkimpy', "await (await load('programs/dkimpy')).dkimpyVerdicts([], {})", 'python3 python3-dkim python3-nacl'],
  ['the Python tools', "await (await load('programs/python-tools')).findPythonTools()", 'python3 python3-pip'],
  ['helm', "await (await load('kubernetes/render-chart')).renderChart()", 'install Go 1.24 or newer'],
  ['kube-score', 'programs.pathOf(await programs.findKubeScore())', 'install Go 1.24 or newer'],
  ['kubeconform', 'programs.pathOf(await programs.findKubeconform())', 'install Go 1.24 or newer'],
  ['a Go module', "programs.pathOf(await programs.findGoModule('a.example/b@v1'))", 'install Go 1.24 or newer'],
  ['kubectl', 'programs.kubectlProgram()', 'install kubectl (https://'],
  [
    'kube-apiserver',
    "(await load('kubernetes/apiserver-setup')).accessOf({ unavailable: 'none', install: (await load('kubernetes/apiserver-binaries')).HOW_TO_INSTALL })",
    'set KUBEBUILDER_ASSETS',
  ],
  ...Object.entries(PACKAGES).map(
    ([name, packages]) =>
      [`${name} alone`, `programs.program('${name}')`, `apt-get install --no-install-recommends ${packages}`] as const,
  ),
]

test(
  'without any program skips every test that needs one, with the command',
  async () => {
    const empty = mkdtempSync(join(tmpdir(), 'pw-bare-'))
    onTestFinished(() => rmSync(empty, { recursive: true }))
    const cases = [
      "import { test } from 'vitest'",
      "import * as programs from '../test/support/programs/programs.ts'",
      "const load = (name: string) => import('../test/support/' + name + '.ts')",
      ...NEEDS.map(([name, use]) => `test(${JSON.stringify(name)}, async () => { ${use} })`),
    ]
    const { TEST_MONGODB_URI: _, KUBEBUILDER_ASSETS: __, CHROMIUM: ___, ...rest } = environment
    const bare = { ...rest, PATH: empty, XDG_CACHE_HOME: empty, MONGOD_BINARY: join(empty, 'mongod') }
    const { stdout, status } = await npmTest(cases.join('\n'), bare)
    const lines = stdout.split('\n')
    for (const [name, , command] of NEEDS) {
      const line = lines.find(one => one.startsWith(`skipped: ${name} (`))
      expect(line, `${name}: ${stdout}`).toContain('; to run this test: ')
      expect(line).toContain(command)
    }
    expect(lines).toContain(`0 passed, 0 failed, ${NEEDS.length} skipped`)
    expect(status).toBe(0)
  },
  RUN_MS,
)

test('prints one line for a run that ends before its result', async () => {
  const { stdout, status } = await runTests(['--config', 'nowhere.config.ts'], environment)
  expect(stdout).toContain('the tests ended before their result')
  expect(status).toBe(1)
})

test('test/packages contains the packages that the reasons name', () => {
  const named = Object.values(PACKAGES).flatMap(names => names.split(' '))
  expect(readFileSync('test/packages', 'utf8').split('\n')).toEqual(expect.arrayContaining(named))
})

test('test/packages is sorted and installed by CI', () => {
  const packages = readFileSync('test/packages', 'utf8')
    .split('\n')
    .filter(line => line && !line.startsWith('#'))
  expect(packages).toEqual(packages.toSorted())
  expect(packages).toEqual(expect.arrayContaining(['bind9', 'chromium', 'knot', 'postfix', 'swaks']))
  expect(readFileSync('.ci/run', 'utf8')).toContain('npm run --silent packages')
})
