/** End to end on real parts: swaks, MX records of a real name server, a real Postfix, and mailauth to verify signatures. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { type Postfix, startPostfix } from '../../support/mail/postfix.ts'
import { type Postwright, startPostwright, trialSettings } from '../../support/processes/postwright-process.ts'
import { program } from '../../support/programs/programs.ts'
import { until } from '../../support/time/until.ts'

const sh = promisify(execFile)

describe('direct delivery to Postfix', () => {
  let postfix: Postfix
  let dns: DnsServer
  let postwright: Postwright
  let settings: Record<string, string>
  let dataDir: string
  let cookie: string
  let token: string
  let smtpPassword: string
  let dkim: { selector: string; public_key: string }

  const api = async (method: string, path: string, body?: object, headers: Record<string, string> = { cookie }) => {
    const answer = await fetch(`http://127.0.0.1:${settings.APP_PORT}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-csrf': '1', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> }
  }

  beforeAll(async () => {
    postfix = await startPostfix('inbox.test')
    dns = await startDnsServer('knot', [{ name: 'inbox.test', lines: ['@ MX 10 mx', 'mx A 127.0.0.1'] }])
    dataDir = await mkdtemp(join(tmpdir(), 'pw-postfix-'))
    settings = {
      ...(await trialSettings(dataDir)),
      DELIVERY_MODE: 'direct',
      DELIVERY_PORT: String(postfix.port),
      DELIVERY_ALLOW_PRIVATE: 'true',
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
    }
    postwright = startPostwright(settings)
    await postwright.printed('"msg":"ready"')
    const shown = (pattern: RegExp) => pattern.exec(postwright.output())?.[1] ?? ''
    token = shown(/token {3}(\S+)/)
    smtpPassword = shown(/demo \/ (\S+)/)
    const login = await api(
      'POST',
      '/api/v1/session',
      { username: 'admin', password: shown(/admin {3}admin \/ (\S+)/) },
      {},
    )
    cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const domain = await api('POST', '/api/v1/domains', { name: 'sender.example' })
    await api('POST', `/api/v1/admin/domains/${domain.body.id}/verify`, {})
    dkim = (domain.body.dkim as [{ selector: string; public_key: string }])[0]
  }, 240_000)
  afterAll(async () => {
    await postwright.end('SIGTERM')
    await Promise.all([dns.stop(), postfix.stop(), rm(dataDir, { recursive: true, force: true })])
  })

  /** Waits for the message with this subject and returns it as Postfix stored it. */
  async function arrived(subject: string): Promise<string> {
    const find = async () => (await postfix.mail()).find(mail => mail.includes(`\nSubject: ${subject}\n`))
    await until(async () => (await find()) !== undefined, 60_000)
    return (await find()) ?? ''
  }

  const starttls = () => settings.SUBMISSION_LISTEN?.split(':')[0] ?? ''
  const implicit = () => settings.SUBMISSION_LISTEN?.split(',').at(-1)?.split(':')[0] ?? ''

  test.each([
    ['STARTTLS, AUTH PLAIN', starttls, ['--tls', '--auth', 'PLAIN']],
    ['STARTTLS, AUTH LOGIN', starttls, ['--tls', '--auth', 'LOGIN']],
    ['implicit TLS', implicit, ['--tls-on-connect', '--auth', 'PLAIN']],
  ])(
    'delivers a message from swaks by %s to Postfix over TLS, with a valid signature and without Bcc',
    async (name, port, mode) => {
      const subject = `by ${name}`
      await sh(program('swaks'), [
        '--server',
        '127.0.0.1',
        '--port',
        port(),
        ...mode,
        '--auth-user',
        'demo',
        '--auth-password',
        smtpPassword,
        '--from',
        'hello@sender.example',
        '--to',
        'you@inbox.test,hidden@inbox.test',
        '--header',
        `Subject: ${subject}`,
        '--header',
        'Bcc: hidden@inbox.test',
      ])
      const mail = await arrived(subject)
      expect(mail).not.toMatch(/^Bcc:/im)
      expect(mail).toMatch(/with ESMTPS id/)
      expect(await verifySignature(mail)).toEqual({ result: 'pass', domain: 'sender.example' })
    },
  )

  test('delivers messages with quoted local parts from SMTP and HTTP to Postfix', async () => {
    const given = ['--server', '127.0.0.1', '--port', implicit(), '--tls-on-connect', '--auth', 'PLAIN']
    await sh(program('swaks'), [
      ...[...given, '--auth-user', 'demo', '--auth-password', smtpPassword],
      ...[
        '--from',
        '"the team"@sender.example',
        '--to',
        '"john..doe"@inbox.test',
        '--header',
        'Subject: quoted by SMTP',
      ],
    ])
    expect(await verifySignature(await arrived('quoted by SMTP'))).toMatchObject({ result: 'pass' })
    const message = {
      from: 'Team <"the team"@sender.example>',
      to: '"john doe"@inbox.test',
      subject: 'quoted by HTTP',
      text: 'x',
    }
    expect((await api('POST', '/api/send', message, { authorization: `Bearer ${token}` })).status).toBe(202)
    const mail = await arrived('quoted by HTTP')
    expect(mail).toMatch(/^From: Team <"the team"@sender\.example>\nTo: <"john doe"@inbox\.test>$/m)
    expect(await verifySignature(mail)).toMatchObject({ result: 'pass' })
  })

  test('delivers a message from HTTP to Postfix and logs the attempt', async () => {
    const message = {
      from: 'hello@sender.example',
      to: 'you@inbox.test',
      subject: 'by HTTP',
      text: 'Grüße\n.\nline after a dot',
    }
    const answer = await api('POST', '/api/send', message, { authorization: `Bearer ${token}` })
    expect(answer.status).toBe(202)
    expect(await verifySignature(await arrived('by HTTP'))).toEqual({ result: 'pass', domain: 'sender.example' })
    const attempts = async () =>
      (await api('GET', `/api/v1/emails/${answer.body.id}/attempts`)).body.data as Record<string, unknown>[]
    await until(async () => (await attempts()).length > 0, 60_000)
    expect((await attempts())[0]).toMatchObject({ smtp_code: 250, mx_host: 'mx.inbox.test' })
  })

  /** Verifies with mailauth; the public key comes from the API as it would from DNS. */
  async function verifySignature(stored: string): Promise<{ result: string; domain: string }> {
    // Postfix's delivery agent adds lines at the top and ends lines with LF.
    const raw = stored.replaceAll('\n', '\r\n')
    const { results } = await dkimVerify(Buffer.from(raw), {
      resolver: async (name: string) => {
        if (name !== `${dkim.selector}._domainkey.sender.example`)
          throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
        return [[`v=DKIM1; k=rsa; p=${dkim.public_key}`]]
      },
    })
    return { result: results[0]?.status.result ?? 'none', domain: results[0]?.signingDomain ?? '' }
  }
})
