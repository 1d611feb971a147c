/**
 * `npm test`: runs every test of the default tier and prints a count at the end, and the name of each skipped test. In CI
 * a skip that `test/allowed-skips` does not list is a failure. First it installs missing system packages, unless
 * `--no-install` is given. `--quick` runs a part. Other arguments are passed to vitest.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackages } from './packages.ts'

interface Report {
  testResults: {
    name: string
    status: string
    message?: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

const QUICK = ['--project', 'unit', '--project', 'chart', '--exclude', '**/{mongod,delivery,dns,store,smtp}/**']
const arguments_ = process.argv.slice(2)
const quick = arguments_.includes('--quick')
if (quick)
  process.stdout.write(
    'quick: the tests of single modules and of the chart; left out are the delivery engine, DNS, SMTP, stores, complete paths (system), the operator and the panel: npm test runs everything\n',
  )
if (!quick && !arguments_.includes('--no-install')) installPackages()
const vitestArguments = arguments_.filter(argument => argument !== '--quick' && argument !== '--no-install')
const folder = mkdtempSync(join(tmpdir(), 'pw-results-'))
const output = join(folder, 'vitest.json')
const skips = join(folder, 'skips.jsonl')
writeFileSync(skips, '')
const code = await vitest([
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${output}`,
  ...(quick ? QUICK : []),
  ...vitestArguments,
])
if (!existsSync(output)) {
  rmSync(folder, { recursive: true })
  process.stdout.write(
    'the tests ended before their result: vitest was stopped or has crashed\n0 passed, 1 failed, 0 skipped\n',
  )
  process.exit(1)
}
const report = JSON.parse(readFileSync(output, 'utf8')) as Report
const reasons = new Map(
  readFileSync(skips, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as { name: string; reason: string })
    .map(({ name, reason }) => [name, reason]),
)
rmSync(folder, { recursive: true })

const tests = report.testResults.flatMap(file =>
  file.assertionResults.map(({ fullName, status }) => ({ name: fullName, status })),
)
const passed = tests.filter(({ status }) => status === 'passed').length
const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed').map(({ name }) => name)
const unlisted = process.env.CI ? skipped.filter(name => !allowedSkips().some(allowed => name.includes(allowed))) : []
// A file that cannot be loaded has no tests to count.
const broken = report.testResults.filter(
  file => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
)
const failed = tests.filter(({ status }) => status === 'failed').length + broken.length + unlisted.length

for (const name of skipped)
  process.stdout.write(
    `skipped: ${name.replaceAll(/\s+/g, ' ')}${reasons.has(name) ? ` (${reasons.get(name)})` : ''}${unlisted.includes(name) ? ' (not listed in test/allowed-skips: counts as failed)' : ''}\n`,
  )
for (const file of broken) process.stdout.write(`could not be run: ${file.name}: ${file.message ?? ''}\n`)
const line = `${passed} passed, ${failed} failed, ${skipped.length - unlisted.length} skipped`
process.stdout.write(`${line}\n`)
if (process.env.RESULT_FILE) writeFileSync(process.env.RESULT_FILE, `${line}\n`)
// Vitest also fails on errors outside of tests, such as unhandled rejections.
process.exit(failed > 0 || code !== 0 || tests.length === 0 ? 1 : 0)

function vitest(args: string[]): Promise<number | null> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
      stdio: 'inherit',
      env: { ...process.env, TEST_SKIPS: skips },
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
    child.on('close', resolve)
  })
}

/** Parts of test names, one per line; `#` starts a comment. */
function allowedSkips(): string[] {
  return readFileSync('test/allowed-skips', 'utf8')
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim())
    .filter(Boolean)
}
