/** The program of `helm test`, as a process against real sockets: output and exit code. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createSecureContext, TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { freePort } from '../../support/database/test-mongod.ts'
import { CLOSE } from '../../support/mail/scripted-server.ts'
import { startListener } from '../../support/mail/submission-listener.ts'
import { startTcpServer } from '../../support/mail/tcp-server.ts'

/** Status of an API by method and path; `undefined` closes the connection without a response. */
type Api = (method: string, path: string) => number | undefined

const GOOD_API: Api = (method, path) =>
  path === '/readyz' ? 200 : method === 'POST' && path === '/api/send' ? 401 : 404

async function startApi(answer: Api = GOOD_API, port = 0): Promise<string> {
  const server = createServer((request, response) => {
    const status = answer(request.method ?? '', request.url ?? '')
    if (status === undefined) request.socket.destroy()
    else response.writeHead(status).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Replies by command; after the handshake `secure` first. An empty text sends nothing. `tls`: implicit TLS. */
interface Smtp {
  clear?: Record<string, string>
  secure?: Record<string, string>
  tls?: boolean
  /** Called with every command. */
  onCommand?: (command: string) => void
}

const CLEAR: Record<string, string> = {
  greeting: '220 mail.example.com ESMTP',
  EHLO: '250-mail.example.com\r\n250-PIPELINING\r\n250-STARTTLS\r\n250 SIZE 1000000',
  MAIL: '530 5.7.0 Log in first',
  STARTTLS: '220 2.0.0 Ready',
}
const SECURE: Record<string, string> = { ...CLEAR, EHLO: '250-mail.example.com\r\n250 AUTH PLAIN LOGIN' }
const certificate = await makeCertificate(['mail.example.com', '127.0.0.1'], 1, new Date())

/** Returns the port. */
async function startSmtp({ clear, secure, tls = false, onCommand }: Smtp = {}, port = 0): Promise<number> {
  const server = await startTcpServer(
    socket => {
      const reply = (on: typeof socket, text = '500 5.5.1 unknown') => {
        const [line = '', ...close] = text.split(CLOSE)
        if (line) on.write(`${line}\r\n`)
        if (close.length > 0) on.end()
      }
      const serve = (on: typeof socket, replies: Record<string, string>) => {
        on.on('error', () => undefined)
        on.on('data', chunk => {
          const command = String(chunk).trim().split(' ')[0] ?? ''
          onCommand?.(command)
          reply(on, replies[command])
          if (command === 'STARTTLS' && replies.STARTTLS?.startsWith('220')) encrypt(false)
        })
      }
      const encrypt = (sendGreeting: boolean) => {
        socket.removeAllListeners('data')
        const encrypted = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) })
        const replies = { ...SECURE, ...secure }
        if (sendGreeting) reply(encrypted, replies.greeting)
        serve(encrypted, replies)
      }
      socket.on('error', () => undefined)
      if (tls) return encrypt(true)
      const replies = { ...CLEAR, ...clear }
      reply(socket, replies.greeting)
      return serve(socket, replies)
    },
    { port },
  )
  onTestFinished(() => server.stop())
  return server.port
}

interface Outcome {
  code: number
  /** The printed lines with ports replaced, sorted. */
  lines: string[]
}

/** Runs the program; what is not given has no errors. */
async function selfTest(given: {
  panel?: string
  send?: string
  admin?: string
  host?: string
  ports?: string
  /** Further settings. */
  env?: Record<string, string>
}): Promise<Outcome> {
  const good = await startApi()
  const { panel = good, send = good, admin = good, host = '127.0.0.1' } = given
  const ports = given.ports ?? `${await startSmtp()}:starttls`
  const child = spawn(process.execPath, ['services/self-test.ts'], {
    env: { PANEL_URL: panel, SEND_URL: send, ADMIN_URL: admin, SMTP_HOST: host, SMTP_PORTS: ports, ...given.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const printed = await text(child.stdout)
  const [code] = (await exited) as [number]
  return {
    code,
    lines: printed.trimEnd().replaceAll(/\d{5}/g, 'PORT').split('\n').sort(),
  }
}

const GOOD_LINES = [
  'ok   SMTP port PORT relays for nobody: MAIL without login got 530',
  'ok   administration API answers: 200',
  'ok   panel answers: 200',
  'ok   send API answers: 200',
  'ok   send API refuses strangers: 401',
]
const failed = ({ lines }: Outcome) => lines.filter(line => !line.startsWith('ok   '))

test('succeeds with a line for each check', async () => {
  const ports = `${await startSmtp()}:starttls,${await startSmtp({ tls: true })}:tls`
  expect(await selfTest({ ports })).toEqual({ code: 0, lines: [GOOD_LINES[0], ...GOOD_LINES] })
})

test("passes for Postwright's own listeners", async () => {
  const { starttls, tls } = await startListener()
  const { code, lines } = await selfTest({ ports: `${starttls}:starttls,${tls}:tls` })
  expect({ code, lines }).toEqual({ code: 0, lines: [GOOD_LINES[0], ...GOOD_LINES] })
})

test.each([
  ['covers the host name', 'mail.example.com', 0, 'ok   SMTP port PORT relays for nobody: MAIL without login got 530'],
  [
    'was made for another host name',
    'smtp.example.com',
    1,
    'FAIL SMTP port PORT relays for nobody: the certificate does not cover smtp.example.com: DNS:mail.example.com, IP Address:127.0.0.1',
  ],
])('a certificate that %s, on both kinds of port', async (_what, name, code, line) => {
  const ports = `${await startSmtp()}:starttls,${await startSmtp({ tls: true })}:tls`
  const outcome = await selfTest({ ports, env: { CERTIFICATE_HOST: name } })
  expect(outcome.code).toBe(code)
  expect(outcome.lines.filter(text => text.includes('SMTP port'))).toEqual([line, line])
})

describe('a failing API', () => {
  test.each([
    ['panel', '/readyz', 500, 'FAIL panel answers: http://127.0.0.1:PORT/readyz answered 500, not 200'],
    ['panel', '/readyz', 503, 'FAIL panel answers: http://127.0.0.1:PORT/readyz answered 503, not 200'],
    ['send', '/readyz', 404, 'FAIL send API answers: http://127.0.0.1:PORT/readyz answered 404, not 200'],
    ['send', '/api/send', 202, 'FAIL send API refuses strangers: http://127.0.0.1:PORT/api/send answered 202, not 401'],
    ['send', '/api/send', 500, 'FAIL send API refuses strangers: http://127.0.0.1:PORT/api/send answered 500, not 401'],
    ['admin', '/readyz', 500, 'FAIL administration API answers: http://127.0.0.1:PORT/readyz answered 500, not 200'],
    ['admin', '/readyz', undefined, 'FAIL administration API answers: other side closed'],
  ] as const)('%s: %s returns %s', async (part, where, status, line) => {
    const api = await startApi((method, path) => (path === where ? status : GOOD_API(method, path)))
    const outcome = await selfTest({ [part]: api })
    expect([outcome.code, failed(outcome)]).toEqual([1, [line]])
    expect(outcome.lines).toHaveLength(GOOD_LINES.length)
  })
})

describe('a failing SMTP port', () => {
  const relays = { MAIL: '250 2.1.0 Welcome, stranger' }
  test.each<[string, Smtp, string]>([
    ['relays in clear text', { clear: relays }, 'expected 530, got "250 2.1.0 Welcome, stranger"'],
    // Before TLS a rejection proves nothing: an open relay answers "530 Must issue STARTTLS first" as well.
    ['relays behind STARTTLS', { secure: relays }, 'expected 530, got "250 2.1.0 Welcome, stranger"'],
    ['relays on TLS', { tls: true, secure: relays }, 'expected 530, got "250 2.1.0 Welcome, stranger"'],
    ['offers no STARTTLS', { clear: { EHLO: '250-mail\r\n250-XSTARTTLS\r\n250 SIZE' } }, 'STARTTLS is not offered'],
    ['refuses STARTTLS', { clear: { STARTTLS: '454 4.7.0 no' } }, 'expected 220, got "454 4.7.0 no"'],
    ['offers no login', { secure: { EHLO: '250-mail\r\n250 SIZE' } }, 'AUTH is not offered'],
    ['offers no login on TLS', { tls: true, secure: { EHLO: '250 mail' } }, 'AUTH is not offered'],
    ['is not ready', { clear: { greeting: `421 4.3.2 Closing${CLOSE}` } }, 'expected 220, got "421 4.3.2 Closing"'],
    ['closes without a greeting', { clear: { greeting: CLOSE } }, 'the server closed the connection'],
    ['closes after EHLO', { clear: { EHLO: CLOSE } }, 'the server closed the connection'],
    ['closes in the middle of a reply', { clear: { EHLO: `250-mail${CLOSE}` } }, 'the server closed the connection'],
  ])('%s', async (_, smtp, reason) => {
    const ports = `${await startSmtp(smtp)}:${smtp.tls ? 'tls' : 'starttls'}`
    const outcome = await selfTest({ ports })
    expect([outcome.code, failed(outcome)]).toEqual([1, [`FAIL SMTP port PORT relays for nobody: ${reason}`]])
    expect(outcome.lines).toHaveLength(GOOD_LINES.length)
  })

  test('reports the other port as good if one of two fails', async () => {
    const ports = `${await startSmtp()}:starttls,${await startSmtp({ tls: true, secure: relays })}:tls`
    const { code, lines } = await selfTest({ ports })
    expect([code, lines.map(line => line.slice(0, 9))]).toEqual([
      1,
      ['FAIL SMTP', 'ok   SMTP', ...GOOD_LINES.slice(1).map(line => line.slice(0, 9))],
    ])
  })

  test('ends within the time limit if a server is silent, before and after the greeting', async () => {
    const mute = await startSmtp({ tls: true, secure: { greeting: '' } })
    const ports = `${await startSmtp({ clear: { EHLO: '' } })}:starttls,${mute}:tls`
    const line = 'FAIL SMTP port PORT relays for nobody: the conversation did not end within 3 s'
    const outcome = await selfTest({ ports, env: { CONVERSATION_SECONDS: '3' } })
    expect([outcome.code, failed(outcome)]).toEqual([1, [line, line]])
  })

  test('fails without any port', async () => {
    const { code, lines } = await selfTest({ ports: '' })
    expect([code, lines[0]?.slice(0, 9)]).toEqual([1, 'FAIL SMTP'])
  })
})

describe('a Service that refuses connections', () => {
  test('at first is retried', async () => {
    const [web, smtp] = [await freePort(), await freePort()]
    const opened = Promise.withResolvers<void>()
    // When the good port gets MAIL, the others have already been tried.
    const onCommand = (command: string) => {
      if (command !== 'MAIL') return
      Promise.all([startApi(GOOD_API, web), startSmtp({}, smtp)]).then(() => opened.resolve(), opened.reject)
    }
    const good = await startSmtp({ tls: true, onCommand })
    const outcome = await selfTest({
      ...{ panel: `http://127.0.0.1:${web}`, admin: `http://127.0.0.1:${web}` },
      ports: `${good}:tls,${smtp}:starttls`,
    })
    await opened.promise
    expect(outcome).toEqual({ code: 0, lines: [GOOD_LINES[0], ...GOOD_LINES] })
  })

  test('permanently is reported with every address that was tried', async () => {
    const [web, smtp] = [await freePort(), await freePort()]
    // A name with two addresses fails with an error whose message is empty.
    const outcome = await selfTest({
      send: `http://127.0.0.1:${web}`,
      host: 'localhost',
      ports: `${smtp}:starttls`,
      env: { SERVICE_WAIT_SECONDS: '1' },
    })
    const [relay, ...send] = failed(outcome)
    expect([outcome.code, send]).toEqual([
      1,
      [
        'FAIL send API answers: connect ECONNREFUSED 127.0.0.1:PORT',
        'FAIL send API refuses strangers: connect ECONNREFUSED 127.0.0.1:PORT',
      ],
    ])
    const one = String.raw`connect ECONNREFUSED (::1|127\.0\.0\.1):PORT`
    expect(relay).toMatch(new RegExp(`^FAIL SMTP port PORT relays for nobody: ${one}(; ${one})*$`))
  })
})
