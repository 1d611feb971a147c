/** `npm start` for a new user: first logins, printed commands, restart, stop, ports in use. */
import { execFile, spawn } from 'node:child_process'
import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtPanel } from '../../panel/support/built-panel.ts'
import { type Postwright, startPostwright, trialSettings } from '../../support/processes/postwright-process.ts'
import { program } from '../../support/programs/programs.ts'
import { until } from '../../support/time/until.ts'

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
/** Runs a printed line that begins with this program. */
const shell = (name: 'curl' | 'swaks', line: string) => {
  program(name)
  return promisify(execFile)('/bin/sh', ['-c', line])
}

describe('npm start', () => {
  let dataDir: string
  let settings: Record<string, string>
  let postwright: Postwright
  let token: string
  let adminPassword: string

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'pw-start-'))
    settings = await trialSettings(dataDir)
    // `npm start` builds the web app before it runs what this starts.
    await builtPanel()
    postwright = startPostwright(settings)
    await postwright.printed('"msg":"ready"')
    token = /token {3}(\S+)/.exec(postwright.output())?.[1] ?? ''
    adminPassword = /admin {3}admin \/ (\S+)/.exec(postwright.output())?.[1] ?? ''
  }, 400_000)
  afterAll(async () => {
    if (postwright?.process.exitCode === null) await postwright.end('SIGTERM')
    await rm(dataDir, { recursive: true, force: true })
  })

  const api = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${settings.APP_PORT}${path}`, init)
  const printedLine = (program: string) =>
    postwright
      .output()
      .split('\n')
      .find(line => line.trim().startsWith(`${program} `)) ?? ''
  const inbox = async () => {
    const cookie = await login()
    const answer = await api('/api/v1/inbox', { headers: { cookie } })
    return ((await answer.json()) as { data: { subject: string }[] }).data.map(({ subject }) => subject)
  }
  const login = async () => {
    const answer = await api('/api/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: adminPassword }),
    })
    expect(answer.status).toBe(200)
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }

  test('prints the admin login, an SMTP login and a token', () => {
    expect(adminPassword).not.toBe('')
    expect(token).toMatch(/^pw_live_/)
    expect(postwright.output()).toMatch(/SMTP {4}127\.0\.0\.1:\d+ \(STARTTLS\), demo \/ \S+/)
  })

  test('the printed curl line sends a message to the inbox', async () => {
    const { stdout } = await shell('curl', printedLine('curl').replace('curl ', 'curl -sS '))
    expect(JSON.parse(stdout)).toMatchObject({ object: 'email', status: 'queued' })
    await until(async () => (await inbox()).includes('The first message'))
  })

  test('the printed swaks line sends a message to the inbox', async () => {
    const { stdout } = await shell('swaks', printedLine('swaks'))
    expect(stdout).toMatch(/250 2\.0\.0 .*em_/)
    await until(async () => (await inbox()).includes('The second message'))
  })

  test.each([
    ['the panel', '/', 'text/html', 200],
    ['the readiness probe', '/readyz', '*/*', 200],
  ])('serves %s', async (_, path, accept, status) =>
    expect((await api(path, { headers: { accept } })).status).toBe(status),
  )

  test('a second start on the same ports fails, names each with its setting and does not affect the first', async () => {
    const second = startPostwright({ ...settings, DATA_DIR: `${dataDir}-second` })
    const code = await second.end('SIGCONT')
    await rm(`${dataDir}-second`, { recursive: true, force: true })
    expect(code).toBe(1)
    for (const setting of ['APP_PORT', 'ADMIN_API_PORT', 'COMPAT_PORT', 'METRICS_PORT', 'SUBMISSION_LISTEN'])
      expect(second.output()).toMatch(new RegExp(`port \\d+ on 127\\.0\\.0\\.1 is taken \\(${setting}\\)`))
    expect((await api('/readyz')).status).toBe(200)
  })

  test('a second start on the same folder fails and names the process that uses it', async () => {
    const second = startPostwright(await trialSettings(dataDir))
    expect(await second.end('SIGCONT')).toBe(1)
    expect(second.output()).toContain(`the Postwright with process id ${postwright.process.pid} is using`)
  })

  test('Ctrl-C, even twice, stops everything including the database', async () => {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8'))
    postwright.process.kill('SIGINT')
    expect(await postwright.end('SIGINT')).toBe(0)
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).toBe('')
  })

  test('a restart keeps all data and prints no login again', async () => {
    postwright = startPostwright(settings)
    await postwright.printed('"msg":"ready"')
    expect(postwright.output()).not.toContain('admin /')
    expect(postwright.output()).toContain(`the panel is at http://127.0.0.1:${settings.APP_PORT}\n`)
    expect(await inbox()).toEqual(expect.arrayContaining(['The first message', 'The second message']))
    expect((await api('/api/v1/emails', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  })

  test('closing the terminal stops everything including the database', async () => {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8'))
    expect(await postwright.end('SIGHUP')).toBe(0)
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).toBe('')
  })

  test('Ctrl-C while the database starts leaves no process', async () => {
    postwright = startPostwright(settings)
    await until(() => isThere(join(dataDir, 'owner.pid')))
    expect(await postwright.end('SIGINT')).toBe(0)
    expect(postwright.output()).toContain('stops once its preparation has ended')
    expect(postwright.output()).not.toContain('"msg":"ready"')
    const { pid } = JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8'))
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).toBe('')
    expect(await isThere(join(dataDir, 'owner.pid'))).toBe(false)
  })

  test('closing the terminal while the database starts leaves no process either', async () => {
    const terminal = [
      'import os, pty, sys, time',
      'pid, terminal = pty.fork()',
      'if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])',
    ]
    const closing = ['while not os.path.exists(sys.argv[1]): time.sleep(0.01)', 'os.close(terminal)']
    const code = [...terminal, ...closing, 'print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))'].join('\n')
    const { stdout } = await promisify(execFile)(
      program('python3'),
      ['-c', code, join(dataDir, 'owner.pid'), process.execPath, 'services/all.ts'],
      { env: postwright.env },
    )
    expect(stdout).toBe('0\n')
    const { pid } = JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8'))
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).toBe('')
    expect(await isThere(join(dataDir, 'owner.pid'))).toBe(false)
  })

  test('the log contains no secrets', () => {
    const log = postwright
      .output()
      .split('\n')
      .filter(line => line.startsWith('{'))
      .join('\n')
    for (const secret of [token, adminPassword]) expect(log).not.toContain(secret)
  })
})

test("npm's signals reach the launcher, which replaces the shell", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pw-start-'))
  await writeFile(join(folder, 'node'), '#!/bin/sh\necho $$\n')
  await chmod(join(folder, 'node'), 0o755)
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'))
  const child = spawn('/bin/sh', ['-c', scripts.start], { env: { PATH: folder }, stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = (await child.stdout.toArray()).join('')
  await rm(folder, { recursive: true })
  expect(printed).toBe(`${child.pid}\n`)
})

test('with a chosen admin password, prints no password and no token', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pw-start-'))
  const settings = await trialSettings(dataDir)
  const chosen = { ADMIN_USERNAME: 'boss', ADMIN_PASSWORD: 'a password that boss chose', SMTP_USERNAME: 'mailer' }
  const postwright = startPostwright({ ...settings, ...chosen, SMTP_PASSWORD: 'a password of the mailer' })
  await postwright.printed('"msg":"ready"')
  const answer = await fetch(`http://127.0.0.1:${settings.APP_PORT}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'boss', password: chosen.ADMIN_PASSWORD }),
  })
  expect(answer.status).toBe(200)
  expect(await postwright.end('SIGTERM')).toBe(0)
  await rm(dataDir, { recursive: true, force: true })
  expect(postwright.output()).not.toMatch(/a password|pw_live_/)
})

test.each([
  ['direct', {}, 'messages leave this machine for the servers of their recipients, as localhost.localdomain'],
  ['relay', { RELAY_URL: 'smtp://login:s3cret@127.0.0.1:9' }, 'messages leave this machine through 127.0.0.1:9'],
])(
  'in DELIVERY_MODE=%s the first start warns that mail is sent, and prints no sandbox commands',
  async (mode, more, message) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'pw-start-'))
    const postwright = startPostwright({ ...(await trialSettings(dataDir)), DELIVERY_MODE: mode, ...more })
    await postwright.printed('shown this once')
    expect(await postwright.end('SIGTERM')).toBe(0)
    await rm(dataDir, { recursive: true, force: true })
    expect(postwright.output()).toContain(message)
    expect(postwright.output()).not.toMatch(/othing leaves|sandbox|s3cret/)
  },
)

test.each([
  [
    'a value of the template',
    { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: 'change-me-admin-password' },
    /ADMIN_PASSWORD: still has the value of the template/,
  ],
  [
    'several errors at once',
    { ADMIN_API_PORT: 'abc', SENDING_IP: 'x', SUBMISSION_LISTEN: '25:plain' },
    /3 errors:[\s\S]*ADMIN_API_PORT[\s\S]*SENDING_IP[\s\S]*SUBMISSION_LISTEN/,
  ],
])('the start rejects %s with exit code 78', async (_, error, expected) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pw-start-'))
  const postwright = startPostwright({ ...(await trialSettings(dataDir)), ...error })
  expect(await postwright.end('SIGCONT')).toBe(78)
  expect(postwright.output()).toMatch(expected)
  await rm(dataDir, { recursive: true, force: true })
})
