/** The command line `postwright` as a process, against the real API. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { runCli, startCli } from '../../support/client/cli.ts'
import { cuttingProxy } from '../../support/client/cutting-proxy.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { scriptedHttp } from '../../support/http/scripted-http.ts'

const SCOPES = ['emails:send', 'emails:read', 'domains:read', 'domains:write']
let api: PanelApi
let user: UserDoc
let token: string
let folder: string
/** The environment with a login. */
let env: Record<string, string>

beforeAll(async () => {
  api = await startPanelApi()
  user = (await api.newUser()).user
  await giveDomain(api.db, user._id, 'sender.example', { status: 'verified', verified_by: 'dns' })
  token = (await giveToken(api.db, user._id, { scopes: SCOPES })).value
  folder = await mkdtemp(join(tmpdir(), 'pw-cli-'))
  env = { XDG_CONFIG_HOME: folder, POSTWRIGHT_URL: api.url, POSTWRIGHT_TOKEN: token }
})
afterAll(async () => {
  await api.stop()
  await rm(folder, { recursive: true, force: true })
})

const SEND = ['send', '--from', 'ann@sender.example', '--to', 'bob@example.net', '--subject']
const json = (text: string) => JSON.parse(text) as Record<string, unknown>
const jsonLines = (text: string) => text.trimEnd().split('\n').map(json)

/** Sends a message, and returns its id. */
async function sendOne(subject: string): Promise<string> {
  const { stdout } = await runCli([...SEND, subject, '--text', 'Hello', '--json'], { env })
  return String(json(stdout).id)
}

/** The message as it is stored. */
async function rawOf(id: string): Promise<string> {
  const response = await fetch(`${api.url}/api/v1/emails/${id}/raw`, { headers: { authorization: `Bearer ${token}` } })
  return response.text()
}

describe('help and usage', () => {
  test('every command has a help text that names its options', async () => {
    const { code, stdout } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const name of ['login', 'logout', 'send', 'messages', 'explain', 'tail', 'domains']) {
      expect(stdout).toContain(`  ${name} `)
      const [help, option] = await Promise.all([runCli(['help', name]), runCli([name, '--help'])])
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(`Usage: postwright ${name}`), stderr: '' })
      expect(option).toEqual(help)
    }
  })

  test('the version is that of the project', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each<[string, string[], string]>([
    ['an unknown command', ['sned'], 'There is no command "sned".'],
    ['help for an unknown command', ['help', 'sned'], 'There is no command "sned".'],
    ['an unknown option', ['messages', '--colour', 'red'], "Unknown option '--colour'."],
    ['an option without its value', ['messages', '--from'], "'--from <value>' argument missing"],
    ['a missing option', ['send', '--from', 'a@sender.example'], 'The option --to is missing.'],
    ['a missing argument', ['explain'], 'The argument <id> is missing.'],
    ['an argument too many', ['explain', 'em_1', 'em_2'], 'The argument "em_2" is one too many.'],
    ['a token as an argument', ['login', '--token', 'pw_live_x'], 'A token is never an argument'],
    ['a token as an argument, with =', ['login', '--token=pw_live_x'], 'A token is never an argument'],
    [
      'one of several statuses that does not exist',
      ['messages', '--status', 'queued', '--status', 'gone'],
      'it is "gone"',
    ],
    ['a status that does not exist', ['messages', '--status', 'gone'], '--status must be one of queued,'],
    ['a limit that is none', ['messages', '--limit', '0'], '--limit must be a whole number of at least 1'],
    ['an unknown action', ['domains', 'sell'], 'There is no "postwright domains sell".'],
    ['an action without its domain', ['domains', 'show'], 'The argument <domain> is missing.'],
    ['a tag without a value', [...SEND, 'a', '--text', 'a', '--tag', 'x'], '--tag must be NAME=VALUE; it is "x".'],
    ['two bodies of one kind', [...SEND, 'a', '--text', 'a', '--file', 'a.txt'], '--file and --text are both the text'],
    ['two readers of stdin', [...SEND, 'a', '--text', '-', '--html', '-'], 'Only one of --text and --html'],
    ['a subject for a finished message', [...SEND, 'a', '--file', 'a.eml'], '--subject does not go with a finished'],
  ])('%s: exit code 2 and the reason', async (_, args, reason) => {
    const { code, stdout, stderr } = await runCli(args, { env })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(reason)
    expect(stderr).toMatch(/See "postwright help.*"\.\n$/)
  })
})

describe('login', () => {
  const path = () => join(folder, 'postwright/config.json')
  const login = (stdin: string, more: Record<string, string> = {}) =>
    runCli(['login', '--url', api.url], { env: { XDG_CONFIG_HOME: folder, ...more }, stdin })

  test('stores address and token for the user alone, and commands use them', async () => {
    const { code, stdout } = await login(`${token}\n`)
    expect([code, stdout]).toEqual([0, `Logged in at ${api.url}; stored in ${path()}.\n`])
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path(), 'utf8'))).toEqual({ url: api.url, token })
    const used = await runCli(['domains'], { env: { XDG_CONFIG_HOME: folder } })
    expect(used).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^sender\.example {2}verified {2}may send/),
      stderr: '',
    })
  })

  test('makes a file that others could read one of the user alone; until then there is a warning', async () => {
    await login(token)
    await chmod(path(), 0o644)
    const warned = await runCli(['domains'], { env: { XDG_CONFIG_HOME: folder } })
    expect(warned).toMatchObject({ code: 0, stderr: `Other users can read ${path()}. Run: chmod 600 ${path()}\n` })
    await login('', { POSTWRIGHT_TOKEN: token })
    expect((await stat(path())).mode & 0o777).toBe(0o600)
  })

  test('accepts a token that may only send', async () => {
    const { value } = await giveToken(api.db, user._id, { scopes: ['emails:send'] })
    expect((await login(value)).code).toBe(0)
  })

  test('stores no token that the service refuses, and keeps the one before', async () => {
    await login(token)
    const { code, stderr } = await login('pw_live_wrong')
    expect(code).toBe(1)
    expect(stderr).toContain('Make a token in the panel (API tokens), and run "postwright login".')
    expect(JSON.parse(await readFile(path(), 'utf8'))).toHaveProperty('token', token)
  })

  test.each([
    ['', 'The token is missing: give it on stdin, or in POSTWRIGHT_TOKEN.'],
    ['two words', 'The token is missing'],
  ])('refuses "%s" as a token', async (stdin, reason) => {
    expect(await login(stdin)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) })
  })

  test('refuses what is no address', async () => {
    const result = await runCli(['login', '--url', 'mail.example.com'], {
      env: { XDG_CONFIG_HOME: folder },
      stdin: token,
    })
    expect(result).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('must be an address that begins with https://'),
    })
  })

  test('logout removes it, and commands say what to do', async () => {
    await login(token)
    expect((await runCli(['logout'], { env: { XDG_CONFIG_HOME: folder } })).code).toBe(0)
    const { code, stderr } = await runCli(['domains'], { env: { XDG_CONFIG_HOME: folder } })
    expect([code, stderr]).toEqual([
      1,
      'There is no login. Run "postwright login", or set POSTWRIGHT_URL and POSTWRIGHT_TOKEN.\n',
    ])
  })

  test('the stored token goes to its own address only', async () => {
    await login(token)
    const other = { XDG_CONFIG_HOME: folder, POSTWRIGHT_URL: 'https://other.example' }
    expect(await runCli(['domains'], { env: other })).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('POSTWRIGHT_URL is not the address of the login') },
    })
  })

  test('a damaged file is reported', async () => {
    await login(token)
    await writeFile(path(), '{')
    const { code, stderr } = await runCli(['domains', '--json'], { env: { XDG_CONFIG_HOME: folder } })
    expect([code, json(stderr)]).toMatchObject([
      1,
      { error: { code: 'no_login', message: expect.stringContaining('is not a login') } },
    ])
  })
})

describe('send', () => {
  test('prints the id and each recipient, and the message has all of its parts', async () => {
    const attachment = join(folder, 'list.csv')
    await writeFile(attachment, 'a,b\n')
    const args = [
      '--to',
      'eve@example.net',
      '--cc',
      'carl@example.net',
      '--reply-to',
      'desk@sender.example',
      '--tag',
      'kind=test',
    ]
    const body = ['--text', 'Plain', '--html', '<p>Rich</p>', '--attach', attachment]
    const { code, stdout, stderr } = await runCli([...SEND, 'Complete', ...args, ...body], { env })
    expect(code).toBe(0)
    const [, id = ''] = /^Accepted: (em_\w+)\n/.exec(stdout) ?? []
    expect(stdout.split('\n').slice(1, 4)).toEqual(['bob', 'eve', 'carl'].map(name => `  ${name}@example.net: queued`))
    expect(stderr).toBe(`See what becomes of it: postwright explain ${id}\n`)
    const raw = await rawOf(id)
    for (const part of ['Subject: Complete', 'Plain', '<p>Rich</p>', 'list.csv', 'text/csv', 'desk@sender.example'])
      expect(raw).toContain(part)
  })

  test('reads the body from stdin, or a file', async () => {
    const page = join(folder, 'body.HTML')
    await writeFile(page, '<p>From a file</p>')
    const finished = join(folder, 'finished.eml')
    await writeFile(finished, 'From: ann@sender.example\r\nTo: bob@example.net\r\nSubject: Finished\r\n\r\nBody\r\n')
    for (const [args, stdin, expected] of [
      [[...SEND, 'a'], 'From stdin', 'From stdin'],
      [[...SEND, 'a', '--html', '-'], '<p>Piped</p>', '<p>Piped</p>'],
      [[...SEND, 'a', '--file', page], '', '<p>From a file</p>'],
      [[...SEND.slice(0, -1), '--file', finished], '', 'Subject: Finished'],
    ] as const) {
      const { stdout } = await runCli([...args, '--json'], { env, stdin })
      expect(await rawOf(String(json(stdout).id))).toContain(expected)
    }
  })

  test('a repeat with the same key sends nothing, and a dry run neither', async () => {
    const args = [...SEND, 'Once', '--text', 'a', '--idempotency-key', 'cli-once', '--json']
    const [first, second] = [await runCli(args, { env }), await runCli(args, { env })]
    expect(json(second.stdout).id).toBe(json(first.stdout).id)
    const dry = await runCli([...SEND, 'Rehearsal', '--text', 'Only shown', '--dry-run'], { env })
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('Only shown') })
    expect((await runCli(['messages', '--q', 'Rehearsal'], { env })).stderr).toBe('No message fits.\n')
  })

  test('a refusal has its fields, the request id, and what to do', async () => {
    const to = ['--to', 'nobody', '--to', 'no one']
    const invalid = await runCli(['send', '--from', 'ann@sender.example', ...to, '--subject', 'a', '--text', 'a'], {
      env,
    })
    expect([invalid.code, invalid.stdout]).toEqual([1, ''])
    expect(invalid.stderr).toMatch(/^\/to\/0: "nobody" is not .+\n {2}\/to\/1: .+\nRequest id: [\w-]{36}\n$/)
    const foreign = [
      'send',
      '--from',
      'ann@foreign.example',
      '--to',
      'bob@example.net',
      '--subject',
      'a',
      '--text',
      'a',
    ]
    expect((await runCli(foreign, { env })).stderr).toContain('See from which domains you may send: postwright domains')
    const asJson = await runCli([...foreign, '--json'], { env })
    expect(json(asJson.stderr)).toMatchObject({
      error: { status: 403, code: 'sender_not_allowed', request_id: expect.any(String) },
    })
  })

  test('a file that cannot be read is named', async () => {
    const { code, stderr } = await runCli([...SEND, 'a', '--file', '/nowhere.txt'], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nowhere.txt cannot be read: ENOENT')])
  })
})

describe('messages and explain', () => {
  test('list, filter and explain messages', async () => {
    const id = await sendOne('Find me by this')
    await sendOne('Another one')
    const found = await runCli(['messages', '--q', 'Find me', '--status', 'queued', '--json'], { env })
    expect(jsonLines(found.stdout)).toMatchObject([{ id, subject: 'Find me by this' }])
    const several = (...statuses: string[]) =>
      runCli(['messages', '--q', 'Find me', ...statuses.flatMap(one => ['--status', one]), '--json'], { env })
    expect(jsonLines((await several('bounced', 'queued')).stdout)).toMatchObject([{ id }])
    expect((await several('bounced', 'failed')).stdout).toBe('')
    const listed = await runCli(['messages', '--limit', '1'], { env })
    expect(listed.stdout).toMatch(/^\S+Z {2}em_\w{26} {2}queued {2}bob@example\.net {2}Another one\n$/)
    const explained = await runCli(['explain', id], { env })
    expect(explained).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^bob@example\.net \(queued\)\n {2}What: {2}.+\n {2}Next: {2}.+\n$/),
    })
    expect(json((await runCli(['explain', id, '--json'], { env })).stdout)).toMatchObject({ email_id: id })
  })

  test('--all reads every page', async () => {
    const { messages } = { messages: await runCli(['messages', '--all', '--json'], { env }) }
    const all = jsonLines(messages.stdout)
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    const some = await runCli(['messages', '--limit', '2', '--json'], { env })
    expect(jsonLines(some.stdout)).toEqual(all.slice(0, 2))
  })

  test('an id that does not exist: exit code 1, and what to do', async () => {
    const { code, stderr } = await runCli(['explain', 'em_00000000000000000000000000'], { env })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Check the id or the name, and the address of the login.'),
    ])
  })

  test('text of others cannot control the terminal', async () => {
    const email = {
      ...{ id: 'em_1', created_at: '2026-11-24T00:00:00Z', status: 'queued', recipients: [{ email: 'a@b.example' }] },
      subject: 'red \u001b[31m\u009b31m title \u001b]0;x\u0007 \u202eabc\u2066\r\nnext',
    }
    const { url } = await scriptedHttp({ status: 200, body: { data: [email], has_more: false, next: null } })
    const { stdout } = await runCli(['messages'], { env: { ...env, POSTWRIGHT_URL: url } })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/)
    expect(stdout).toContain('red \ufffd[31m\ufffd31m title')
    expect(stdout.split('\n')).toHaveLength(2)
  })

  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
  const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
  const HOSTILE = 'red \u001b[31m\u007f\u009b31m \u061c\u200f\u2028\u202eabc\u2066 送达 "\\u009b"'

  test('with --json it is escaped, and programs read the same text', async () => {
    const body = { data: [{ id: 'em_1', subject: HOSTILE, [HOSTILE]: 1 }], has_more: false, next: null }
    const { url } = await scriptedHttp({ status: 200, body })
    const { stdout } = await runCli(['messages', '--json'], { env: { ...env, POSTWRIGHT_URL: url } })
    expect(stdout).not.toMatch(OBEYED)
    expect(stdout).toContain('\\u009b31m \\u061c\\u200f\\u2028\\u202eabc\\u2066 送达')
    expect(JSON.stringify(json(stdout))).toContain(JSON.stringify({ subject: HOSTILE, [HOSTILE]: 1 }).slice(1, -1))
  })

  test('a refusal with --json is escaped too', async () => {
    const { url } = await scriptedHttp({ status: 422, body: { code: 'validation', status: 422, detail: HOSTILE } })
    const { code, stderr } = await runCli(['messages', '--json'], { env: { ...env, POSTWRIGHT_URL: url } })
    expect(code).toBe(1)
    expect(stderr).not.toMatch(OBEYED)
    expect(json(stderr)).toMatchObject({ error: { status: 422, message: expect.stringContaining('\u009b31m') } })
  })
})

describe('domains', () => {
  test('add registers a domain and prints its records; show has their state', async () => {
    const added = await runCli(['domains', 'add', 'new.example'], { env })
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('postwright domains check new.example') })
    expect(added.stdout).toMatch(/^new\.example: pending, may not send\n/)
    expect(added.stdout).toMatch(/_domainkey\.new\.example\. \d+ IN TXT "v=DKIM1;/)
    const shown = await runCli(['domains', 'show', 'new.example', '--json'], { env })
    expect(json(shown.stdout)).toMatchObject({ name: 'new.example', records: expect.any(Array) })
    const again = await runCli(['domains', 'add', 'new.example'], { env })
    expect(again).toMatchObject({ code: 1, stdout: '' })
  })

  test('a token without the scope: exit code 1, and how to get one', async () => {
    const { value } = await giveToken(api.db, user._id, { scopes: ['emails:send'] })
    const { code, stderr } = await runCli(['domains'], { env: { ...env, POSTWRIGHT_TOKEN: value } })
    expect(code).toBe(1)
    expect(stderr).toContain('domains:read')
    expect(stderr).toContain('Make a token with this scope in the panel')
  })

  test('check has exit code 1 unless the domain is verified', async () => {
    const answer = (outcome: string) => ({
      ...{ object: 'dns_check', outcome, errors: [] },
      records: [{ id: 'spf', status: outcome, errors: ['There is none.'], warnings: [], instructions: ['Add it.'] }],
    })
    const { url, requests } = await scriptedHttp(
      { status: 202, body: answer('pending') },
      { status: 202, body: answer('verified') },
    )
    const at = { env: { ...env, POSTWRIGHT_URL: url } }
    expect(await runCli(['domains', 'check', 'new.example'], at)).toMatchObject({
      ...{ code: 1, stdout: 'new.example: pending\n  spf: pending\n    There is none.\n    Add it.\n' },
    })
    expect((await runCli(['domains', 'check', 'new.example'], at)).code).toBe(0)
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/api/v1/domains/new.example/verify' })
  })
})

describe('tail', () => {
  test('prints events as they happen, goes on after a cut, and ends on Ctrl-C', async () => {
    const proxy = await cuttingProxy(api.url)
    const cli = startCli(['tail', '--json'], { env: { ...env, POSTWRIGHT_URL: proxy.url } })
    await streamIsOpen(cli)
    const first = await sendOne('Before the cut')
    await cli.printed(first)
    proxy.cut()
    await cli.printed('Connecting again')
    const second = await sendOne('After the cut')
    await cli.printed(second)
    cli.kill('SIGINT')
    const { code, stdout } = await cli.ended
    expect(code).toBe(0)
    const events = jsonLines(stdout).filter(({ email_id: id }) => id === first || id === second)
    expect(events.map(({ email_id: id, type }) => [id, type])).toEqual([
      [first, 'email.accepted'],
      [second, 'email.accepted'],
    ])
  })

  test('prints lines for people, of the types asked for', async () => {
    const cli = startCli(['tail', '--type', 'email.*'], { env })
    await streamIsOpen(cli)
    const id = await sendOne('Shown')
    await cli.printed(id)
    cli.kill('SIGTERM')
    const { code, stdout } = await cli.ended
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^\\S+Z email\\.accepted bob@example\\.net ${id} .+$`, 'm'))
  })

  test('a refused token ends it with exit code 1', async () => {
    const result = await runCli(['tail'], { env: { ...env, POSTWRIGHT_TOKEN: 'pw_live_wrong' } })
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('postwright login') })
  })

  /** Events count from the start of the stream on: sends until one of them arrives. */
  async function streamIsOpen(cli: ReturnType<typeof startCli>): Promise<void> {
    while (cli.result.stdout === '') await sendOne('Is it open?')
  }
})

test('the language is that of --lang, else of the locale', async () => {
  const empty = { status: 200, body: { data: [], has_more: false } }
  const { url, requests } = await scriptedHttp(empty)
  const at = (more: Record<string, string>) => ({ env: { ...env, POSTWRIGHT_URL: url, ...more } })
  await runCli(['messages', '--lang', 'zh-CN'], at({ LANG: 'de_DE.UTF-8' }))
  await runCli(['messages'], at({ LANG: 'zh_CN.UTF-8' }))
  await runCli(['messages'], at({ LC_ALL: 'C', LANG: 'zh_CN.UTF-8' }))
  expect(requests.map(({ headers }) => headers['accept-language'])).toEqual(['zh-CN', 'zh-CN', '*'])
})

test('a service that is not there: exit code 1, and what to do', async () => {
  const { code, stderr } = await runCli(['domains'], { env: { ...env, POSTWRIGHT_URL: 'http://127.0.0.1:1' } })
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('Check the address (postwright login, or POSTWRIGHT_URL)'),
  ])
})

test('a reader that ends early is no failure', async () => {
  const email = { id: 'em_1', subject: 'x'.repeat(100_000), recipients: [] }
  const { url } = await scriptedHttp({
    status: 200,
    body: { data: Array(100).fill(email), has_more: true, next: 'em_1' },
  })
  const command = `set -o pipefail; "$0" clients/typescript/src/cli/main.ts messages --all --json | head -c 10`
  const { stdout } = await promisify(execFile)('bash', ['-c', command, process.execPath], {
    env: { ...env, PATH: process.env.PATH ?? '', POSTWRIGHT_URL: url },
  })
  expect(stdout).toBe('{"id":"em_')
})
