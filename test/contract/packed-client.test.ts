/** The package `@postwright/client` as npm packs it: its files and types, real calls, and the size of what is used. */
import { execFile } from 'node:child_process'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveDomain, giveToken, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { compileConsumer, type PackedClient, packClient } from '../support/client/packed-client.ts'
import { startPanelApi } from '../support/http/panel-api.ts'
import { startSubscriptionApi } from '../support/subscriptions/subscription-api.ts'

const run = promisify(execFile)
const PROGRAMS = join(import.meta.dirname, 'clients')

let packed: PackedClient
beforeAll(async () => {
  packed = await packClient()
}, 240_000)
afterAll(() => rm(dirname(packed.project), { recursive: true, force: true }))

/** Compiles a program of `clients/` against the package, and runs it. */
async function consume(name: string, args: string[]): Promise<unknown> {
  const program = join(packed.project, `${name}.ts`)
  await cp(join(PROGRAMS, `${name}.ts`), program)
  await compileConsumer(packed.project, program, ['node'])
  const { stdout } = await run(process.execPath, [program.replace(/ts$/, 'js'), ...args])
  return JSON.parse(stdout)
}

/** A running mail API with one account that sends from `sender.example`. */
async function startMailApi(env: Record<string, string> = {}) {
  const api = await startPanelApi(env)
  const { user } = await api.newUser()
  await giveDomain(api.db, user._id, 'sender.example', { status: 'verified', verified_by: 'dns' })
  const { value } = await giveToken(api.db, user._id, { scopes: ['emails:send', 'emails:read', 'domains:read'] })
  return { url: api.url, token: value, stop: api.stop }
}

test('the package has what it names, the version of the project, and no tests or sources', async () => {
  const manifest = JSON.parse(
    await readFile(join(packed.project, 'node_modules/@postwright/client/package.json'), 'utf8'),
  )
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@postwright/client', version, license: 'Apache-2.0' })
  expect(manifest).not.toHaveProperty('dependencies')
  const named = [
    ...Object.values(manifest.exports).flatMap(one => (typeof one === 'string' ? one : Object.values(one as object))),
  ]
  const paths = [...named, ...Object.values(manifest.bin as object)].map(path => String(path).replace('./', ''))
  expect(packed.files).toEqual(expect.arrayContaining([...paths, 'README.md', 'LICENSE']))
  expect(packed.files.filter(path => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path))).toEqual(
    [],
  )
  expect(packed.files.filter(path => path.includes('.test.'))).toEqual([])
})

test('the command line is installed with it', async () => {
  const command = join(packed.project, 'node_modules/.bin/postwright')
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  expect((await run(command, ['help', 'send'], { env })).stdout).toContain('Usage: postwright send')
})

test('a program that uses it compiles and works with the mail API', async () => {
  const api = await startMailApi()
  const slow = await startMailApi({ API_REQUESTS_PER_MINUTE: '1' })
  try {
    expect(await consume('packed-mail', [api.url, api.token, slow.url, slow.token])).toEqual({
      same: true,
      replayed: 'true',
      preview: expect.stringContaining('Hello'),
      subjects: ['Second', 'Hello'],
      explained: [['bob@example.net', 'none']],
      domains: ['sender.example'],
      unauthenticated: [401, 'invalid_token', true],
      unknown: [404, 'not_found', true],
      invalid: [422, 'validation_failed', '/subject', true],
      limited: [429, 'rate_limited', true],
      checked: ['function', 'function'],
    })
  } finally {
    await api.stop()
    await slow.stop()
  }
})

test('a program that uses it works with the Subscription Administration API', async () => {
  const api = await startSubscriptionApi()
  try {
    expect(await consume('packed-subscriptions', [api.url, 'root', PASSWORD])).toEqual({
      pages: [expect.any(Array), expect.any(Array)],
      flags: [['on', true]],
      exported: true,
      refused: [404, '40410', 'The app_key is unknown.'],
    })
  } finally {
    await api.stop()
  }
})

test('its types need those of the browser only', async () => {
  const program = join(packed.project, 'browser.ts')
  const source = `import { createClient, followEvents, sendEmail } from '@postwright/client'\nimport { listUsers } from '@postwright/client/subscriptions'\nexport { createClient, followEvents, listUsers, sendEmail }\n`
  await writeFile(program, source)
  await expect(compileConsumer(packed.project, program)).resolves.toBeUndefined()
})

describe('a bundle for browsers', () => {
  /** What a program that imports these names is bundled to. */
  async function bundle(source: string): Promise<string> {
    const entry = join(packed.project, 'bundled.js')
    await writeFile(entry, source)
    const result = await build({
      ...{ root: packed.project, configFile: false, logLevel: 'silent' },
      build: { write: false, minify: true, target: 'es2022', lib: { entry, formats: ['es'], fileName: 'bundle' } },
    })
    const output = Array.isArray(result) ? result.flatMap(one => one.output) : 'output' in result ? result.output : []
    return output.map(one => ('code' in one ? one.code : '')).join('')
  }

  test('of one call has that operation and no other one, in less than 3 KB', async () => {
    const code = await bundle(
      `import { createClient, sendEmail } from '@postwright/client'\nsendEmail(createClient({ url: location.origin }), { body: {} })\n`,
    )
    expect(code).toContain('POST /api/v1/emails')
    expect(code.match(/(?:GET|POST|PUT|PATCH|DELETE) \//g)).toHaveLength(1)
    expect(code).not.toMatch(/node:|require\(/)
    expect(gzipSync(code).length).toBeLessThan(3_000)
  })

  test('of everything has the other operations, still without Node', async () => {
    const code = await bundle(`import * as client from '@postwright/client'\nglobalThis.client = { ...client }\n`)
    expect(code.match(/(?:GET|POST|PUT|PATCH|DELETE) \//g)?.length).toBeGreaterThan(80)
    expect(code).not.toMatch(/node:|require\(/)
  })
})
