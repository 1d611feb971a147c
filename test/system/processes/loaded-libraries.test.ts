/** What a process does not need at rest is loaded when it is first used: memory of every installation (ADR 127). */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const services = join(import.meta.dirname, '../../../services')

/** Prints the packages that a service loads with its modules, and whether the HTTP client inside Node is among it. */
const PROGRAM = `
import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({
  load(url, context, next) {
    const [, name] = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
    if (name) packages.add(name)
    return next(url, context)
  },
})
await import(process.argv[1])
const client = process.moduleLoadList.some(name => name.endsWith('deps/undici/undici'))
process.stdout.write(JSON.stringify({ packages: [...packages], client }), () => process.exit())
`

async function loadedBy(service: string): Promise<{ packages: string[]; client: boolean }> {
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM]
  const path = join(services, `${service}.ts`)
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path])
  return JSON.parse(stdout)
}

test.each([
  ['worker', ['undici', 'jose', 'parse5', 'nodemailer']],
  ['smtp', ['undici', 'jose', 'parse5']],
  ['inbound', ['undici', 'jose', 'parse5']],
  ['admin', ['undici', 'jose', 'parse5', 'nodemailer']],
  ['send', ['undici', 'jose']],
  ['compat', ['undici']],
  ['panel', ['undici']],
])('%s begins without %j', async (service, unwanted) => {
  const { packages } = await loadedBy(service)
  expect(packages).toContain('mongodb')
  expect(packages.filter(name => unwanted.includes(name))).toEqual([])
})

test('a worker begins without the HTTP client inside Node', async () => {
  expect((await loadedBy('worker')).client).toBe(false)
})
