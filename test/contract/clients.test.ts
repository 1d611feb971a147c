/**
 * Clients that public generators create from the documents: they compile, and programs that use them (in `clients/`) work
 * with real servers.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveDomain, giveToken, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startPanelApi } from '../support/http/panel-api.ts'
import { findPythonTools } from '../support/programs/python-tools.ts'
import { startSubscriptionApi } from '../support/subscriptions/subscription-api.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const PROGRAMS = join(import.meta.dirname, 'clients')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pw-clients-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Api = 'mail' | 'subscriptions'

/** Starts the API with test data; returns its address and the credentials of the program. */
async function start(api: Api): Promise<{ url: string; credentials: string[]; stop(): Promise<void> }> {
  if (api === 'subscriptions') {
    const running = await startSubscriptionApi()
    return { url: running.url, credentials: ['root', PASSWORD], stop: running.stop }
  }
  const running = await startPanelApi()
  const { user } = await running.newUser()
  await giveDomain(running.db, user._id, 'sender.example', { status: 'verified', verified_by: 'dns' })
  const scopes = ['emails:send', 'emails:read', 'domains:read']
  const { value } = await giveToken(running.db, user._id, { scopes })
  return { url: running.url, credentials: [value], stop: running.stop }
}

/** Generates a client from the document that the running API serves, and runs a program with it. */
async function tryClient(api: Api, language: 'ts' | 'py', program: (work: string, args: string[]) => Promise<string>) {
  const { url, credentials, stop } = await start(api)
  try {
    const work = join(folder, `${api}-${language}`)
    await mkdir(work)
    await writeFile(join(work, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text())
    await cp(join(PROGRAMS, `${api}.${language}`), join(work, `main.${language}`))
    return JSON.parse(await program(work, [url, ...credentials])) as Record<string, unknown>
  } finally {
    await stop()
  }
}

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2023', module: 'nodenext', strict: true, types: ['node'], lib: ['es2023', 'dom', 'dom.iterable'] },
    ...{ outDir: 'out', rootDir: '.' },
  },
  include: ['*.ts', 'sdk'],
}

/** TypeScript by @hey-api/openapi-ts, compiled in strict mode to JavaScript. */
async function typescript(work: string, args: string[]): Promise<string> {
  await createClient({
    input: join(work, 'openapi.json'),
    output: { path: join(work, 'sdk'), module: { extension: '.js' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  })
  await writeFile(join(work, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(work, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  await symlink(join(ROOT, 'node_modules'), join(work, 'node_modules'))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-p', work]).catch((error: { stdout: string }) => {
    throw new Error(`the client does not compile:\n${error.stdout}`)
  })
  return (await run(process.execPath, [join(work, 'out/main.js'), ...args])).stdout
}

/** Python by openapi-python-client, which omits what it does not understand: here that is an error. */
async function python(work: string, args: string[]): Promise<string> {
  const tools = await findPythonTools()
  // The generator supports JSON, text and bytes; other files are treated as bytes.
  const reports = ['application/gzip', 'application/zip', 'application/tlsrpt+gzip']
  const files = ['message/rfc822', 'text/csv', 'image/gif', ...reports]
  const overrides = files.map(type => [type, 'application/octet-stream'])
  await writeFile(join(work, 'config.json'), JSON.stringify({ content_type_overrides: Object.fromEntries(overrides) }))
  const options = ['--path', 'openapi.json', '--meta', 'none', '--output-path', 'client', '--config', 'config.json']
  await tools.run(['-m', 'openapi_python_client', 'generate', ...options, '--fail-on-warning'], { cwd: work })
  await tools.run(['-m', 'compileall', '-q', 'client'], { cwd: work })
  return tools.run(['main.py', ...args], { cwd: work })
}

const MAIL = {
  id: expect.stringMatching(/^em_/),
  again: expect.stringMatching(/^em_/),
  replayed: 'true',
  preview: expect.stringContaining('Hello'),
  old: 202,
  batch: [202, 202],
  refused: 'sender_not_allowed',
  invalid: ['/subject'],
  recipients: ['to bob@example.net', 'to eve@example.net', 'cc carl@example.net'],
  raw: true,
  listed: 2,
  domains: [['sender.example', true]],
}
const SUBSCRIPTIONS = {
  admin: 'super',
  plan: '19.90',
  granted: '1',
  imported: 1,
  listed: ['Monthly'],
  exported: true,
  flags: [['on', 'on', true]],
  flag: 'FLAG_NOT_FOUND',
  refused: [40410, 'The app_key is unknown.'],
}

describe('a TypeScript client by @hey-api/openapi-ts compiles and works', () => {
  test('with the mail API', async () => {
    const output = await tryClient('mail', 'ts', typescript)
    expect(output).toEqual(MAIL)
    expect(output.again).toBe(output.id)
  })
  test('with the Subscription Administration API', async () => {
    expect(await tryClient('subscriptions', 'ts', typescript)).toEqual(SUBSCRIPTIONS)
  })
})

describe('a Python client by openapi-python-client works', () => {
  // In beforeAll, because the first run installs the generator.
  beforeAll(async () => void (await findPythonTools()), 600_000)
  test('with the mail API', async () => {
    const output = await tryClient('mail', 'py', python)
    expect(output).toEqual(MAIL)
    expect(output.again).toBe(output.id)
  })
  test('with the Subscription Administration API', async () => {
    expect(await tryClient('subscriptions', 'py', python)).toEqual(SUBSCRIPTIONS)
  })
})
