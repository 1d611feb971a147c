import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from './config.ts'
import { prepareTrial } from './trial.ts'

/** A data folder of this test, and a preparation with an external database and free ports. */
async function folder() {
  const dataDir = await mkdtemp(join(tmpdir(), 'pw-trial-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const ports = {
    APP_PORT: '0',
    ADMIN_API_PORT: '0',
    COMPAT_PORT: '0',
    METRICS_PORT: '0',
    SUBMISSION_LISTEN: '0:starttls',
  }
  const prepare = async (more: NodeJS.ProcessEnv = {}) => {
    const env = { DATA_DIR: dataDir, MONGODB_URI: 'mongodb://127.0.0.1:1/none', ...ports, ...more }
    const trial = await prepareTrial(env, () => {})
    const stop = async () => {
      for (const part of trial.parts) await part.stop()
    }
    onTestFinished(stop)
    return { ...trial, stop }
  }
  return { dataDir, prepare }
}

describe('what is made up', () => {
  test('is enough to start, with nothing that leaves the machine', async () => {
    const { dataDir, prepare } = await folder()
    const { env, logins } = await prepare()
    expect(readConfig(env)).toMatchObject({
      MAIL_HOSTNAME: 'localhost.localdomain',
      DELIVERY_MODE: 'capture',
      SUBMISSION_TLS_CERT: join(dataDir, 'tls.crt'),
    })
    expect(logins).toMatchObject({ ADMIN_USERNAME: 'admin', SMTP_USERNAME: 'demo' })
    expect(logins?.ADMIN_PASSWORD).toMatch(/^\w{16}$/)
    expect(await readFile(join(dataDir, 'tls.crt'), 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/)
    for (const name of ['trial.json', 'tls.key']) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600)
  })

  test('stays the same, and the logins are shown until they were seen', async () => {
    const { prepare } = await folder()
    const first = await prepare()
    await first.stop()
    const second = await prepare()
    expect([second.env.SESSION_SECRET, second.logins]).toEqual([first.env.SESSION_SECRET, first.logins])
    await second.loginsShown()
    await second.stop()
    const third = await prepare()
    expect([third.env.SESSION_SECRET, third.logins]).toEqual([first.env.SESSION_SECRET, undefined])
  })

  test('is one secret for parallel first starts', async () => {
    const { dataDir, prepare } = await folder()
    const trials = await Promise.all(Array.from({ length: 8 }, () => prepare()))
    const { SESSION_SECRET, logins } = JSON.parse(await readFile(join(dataDir, 'trial.json'), 'utf8'))
    for (const trial of trials) expect([trial.env.SESSION_SECRET, trial.logins]).toEqual([SESSION_SECRET, logins])
    expect((await readdir(dataDir)).filter(name => name.startsWith('trial'))).toEqual(['trial.json'])
  })

  test.each([
    ['before there was any state', false],
    ['with a state', true],
  ])('leaves nothing of starts that died %s, and what others keep there stays', async (_, had) => {
    const { dataDir, prepare } = await folder()
    if (had) await (await prepare()).stop()
    const kept = ['trial.json.bak', 'trial.json.20260101', 'trial.json.0123456789ab.old', 'my-trial.json.0123456789ab']
    for (const name of ['trial.json.0123456789ab', 'trial.json.fedcba987654', ...kept])
      await writeFile(join(dataDir, name), '{"SESSION_SECRET":"x"}')
    const { env } = await prepare()
    const names = (await readdir(dataDir)).filter(name => name.includes('trial.json'))
    expect(names.toSorted()).toEqual(['trial.json', ...kept].toSorted())
    expect(env.SESSION_SECRET).not.toBe('x')
  })

  test('is overridden by settings, and an empty setting is none', async () => {
    const { prepare } = await folder()
    const { env } = await prepare({ MAIL_HOSTNAME: 'mail.example.com', DELIVERY_MODE: '', APP_PORT: '0' })
    expect(env).toMatchObject({ MAIL_HOSTNAME: 'mail.example.com', DELIVERY_MODE: 'capture' })
  })

  test.each(['', ' ', '\t\n'])('applies where a setting is blank: %j', async blank => {
    const { dataDir, prepare } = await folder()
    const { env, logins } = await prepare({
      ADMIN_PASSWORD: blank,
      SMTP_USERNAME: blank,
      SESSION_SECRET: blank,
      MAIL_HOSTNAME: blank,
      SUBMISSION_TLS_CERT: blank,
      SUBMISSION_HOST: blank,
    })
    expect(readConfig(env)).toMatchObject({
      ADMIN_PASSWORD: logins?.ADMIN_PASSWORD ?? expect.fail('no admin is made'),
      SMTP_USERNAME: 'demo',
      MAIL_HOSTNAME: 'localhost.localdomain',
      SUBMISSION_TLS_CERT: join(dataDir, 'tls.crt'),
      SUBMISSION_HOST: '127.0.0.1',
    })
    expect(await readFile(join(dataDir, 'tls.crt'), 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/)
  })

  test('is no login where an admin has a password already', async () => {
    const { prepare } = await folder()
    const { env, logins } = await prepare({ ADMIN_PASSWORD: 'chosen by hand' })
    expect(logins).toBeUndefined()
    expect(env.SMTP_PASSWORD).toBeUndefined()
  })

  test.each([
    ['0:starttls', '0'],
    ['0:starttls,127.0.0.1:0:tls', '0,0'],
    ['0:starttls 0:tls', '0,0'],
    [' 0:starttls,\n[::1]:0:tls ', '0,0'],
  ])('are the ports that users read, from where it listens: %j', async (SUBMISSION_LISTEN, shown) => {
    const { prepare } = await folder()
    expect((await prepare({ SUBMISSION_LISTEN })).env.SUBMISSION_PORTS).toBe(shown)
  })
})

describe('what stops it', () => {
  test('names every port that is taken, by its setting', async () => {
    const { prepare } = await folder()
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>(resolve => void server.close(() => resolve())))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const taken = { APP_PORT: `${port}`, SUBMISSION_LISTEN: `${port}:tls,0:starttls` }
    await expect(prepare(taken)).rejects.toThrow(
      `port ${port} on 127.0.0.1 is taken (APP_PORT)\n  port ${port} on 127.0.0.1 is taken (SUBMISSION_LISTEN)\nIs another`,
    )
  })

  test.each(['{"SESSION_SEC', '', 'null', '[]', '"text"', '{}', '{"SESSION_SECRET":7}'])(
    'is a state that cannot be read: a new secret would lock everything away (%j)',
    async state => {
      const { dataDir, prepare } = await folder()
      await writeFile(join(dataDir, 'trial.json'), state)
      await expect(prepare()).rejects.toThrow(/trial\.json cannot be read; it holds the secret/)
      expect(await readFile(join(dataDir, 'trial.json'), 'utf8')).toBe(state)
    },
  )

  /** The id of a process that runs as long as this test, with arguments after its program. */
  async function running(...more: string[]): Promise<number | undefined> {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)', ...more], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    return child.pid
  }

  test('is another Postwright that uses the folder', async () => {
    const { dataDir, prepare } = await folder()
    const owner = await running('services/all.ts')
    await writeFile(join(dataDir, 'owner.pid'), String(owner))
    // A file that is being written.
    await writeFile(join(dataDir, 'trial.json.0123456789ab'), '{}')
    await expect(prepare()).rejects.toThrow(`the Postwright with process id ${owner} is using ${dataDir}`)
    expect(await readdir(dataDir)).toContain('trial.json.0123456789ab')
    expect(await readFile(join(dataDir, 'owner.pid'), 'utf8')).toBe(String(owner))
  })

  test('is no lock of an ended process, or of another program', async () => {
    const { dataDir, prepare } = await folder()
    // Only /proc distinguishes another program from Postwright.
    const other = process.platform === 'linux' ? [await running()] : []
    for (const owner of ['4194305', ...other, 'nobody', '']) {
      await writeFile(join(dataDir, 'owner.pid'), String(owner))
      const { stop } = await prepare()
      expect(await readFile(join(dataDir, 'owner.pid'), 'utf8')).toBe(String(process.pid))
      await stop()
      await expect(stat(join(dataDir, 'owner.pid'))).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })
})
