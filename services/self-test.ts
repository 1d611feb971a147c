/** Main of `helm test`: every API answers, every SMTP port offers TLS and login, and none relays for strangers. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { retry } from './platform/concurrency/retry.ts'

/** SMTP_PORTS: `port:mode` as in SUBMISSION_LISTEN, with the public ports. */
const { PANEL_URL = '', SEND_URL = '', ADMIN_URL = '', COMPAT_URL = '', SMTP_HOST = '', SMTP_PORTS = '' } = process.env
/** Host name that clients connect to, which the certificate has to cover; empty: not checked. */
const { CERTIFICATE_HOST = '' } = process.env
/** How long a Service may refuse connections, and how long a conversation may take, in seconds: shorter in tests. */
const { SERVICE_WAIT_SECONDS = '15', CONVERSATION_SECONDS = '30' } = process.env
const ANSWER_MS = 10_000
const results: { name: string; ok: boolean; detail: string }[] = []

await Promise.all([
  check('panel answers', () => status(`${PANEL_URL}/readyz`, 200)),
  check('send API answers', () => status(`${SEND_URL}/readyz`, 200)),
  check('send API refuses strangers', () =>
    status(`${SEND_URL}/api/send`, 401, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    }),
  ),
  check('administration API answers', () => status(`${ADMIN_URL}/readyz`, 200)),
  // Where it is enabled.
  ...(COMPAT_URL ? [check('API in the format of Resend answers', () => status(`${COMPAT_URL}/readyz`, 200))] : []),
  ...SMTP_PORTS.split(',').map(listener => {
    const [port, mode] = listener.split(':')
    return check(`SMTP port ${port} relays for nobody`, () =>
      refusesRelay(Number.parseInt(port ?? '', 10), mode === 'tls'),
    )
  }),
])
for (const { name, ok, detail } of results) process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}\n`)
process.exit(results.every(({ ok }) => ok) ? 0 : 1)

async function check(name: string, work: () => Promise<string>): Promise<void> {
  try {
    results.push({ name, ok: true, detail: await connected(work) })
  } catch (error) {
    results.push({ name, ok: false, detail: reasonOf(error) })
  }
}

/** A Service refuses connections until the node's proxy has heard of its ready pods: a moment after `helm --wait` ends. */
function connected<T>(work: () => Promise<T>): Promise<T> {
  return retry(work, { on: refused, pauseMs: 500, timeoutMs: Number(SERVICE_WAIT_SECONDS) * 1000 })
}

function refused(error: unknown): boolean {
  const cause = causeOf(error)
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}

/** The cause: `fetch` itself only reports that it failed. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause ? error.cause : error
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  // One failure an address, and no message of its own.
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}

async function status(url: string, expected: number, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  if (response.status !== expected) throw new Error(`${url} answered ${response.status}, not ${expected}`)
  return String(response.status)
}

/** Talks SMTP up to TLS without a login: AUTH must be offered, and MAIL refused with 530 (RFC 4954 section 6). */
async function refusesRelay(port: number, implicitTls: boolean): Promise<string> {
  const plain = implicitTls ? undefined : connect({ host: SMTP_HOST, port })
  let socket: Socket = plain ?? connectTls({ host: SMTP_HOST, port, rejectUnauthorized: false })
  const late = setTimeout(
    () => socket.destroy(new Error(`the conversation did not end within ${CONVERSATION_SECONDS} s`)),
    Number(CONVERSATION_SECONDS) * 1000,
  )
  try {
    let command = conversation(socket)
    await command('', '220')
    if (plain) {
      const offers = await command('EHLO self-test.invalid', '250')
      if (!/^250[ -]STARTTLS\r$/im.test(offers)) throw new Error('STARTTLS is not offered')
      await command('MAIL FROM:<stranger@self-test.invalid>', '530')
      await command('STARTTLS', '220')
      socket = connectTls({ socket: plain, rejectUnauthorized: false })
      command = conversation(socket)
    }
    const offers = await command('EHLO self-test.invalid', '250')
    if (!/^250[ -]AUTH /im.test(offers)) throw new Error('AUTH is not offered')
    await command('MAIL FROM:<stranger@self-test.invalid>', '530')
    assertCovered(socket)
    return 'MAIL without login got 530'
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}

/** After a change of the host name an old certificate makes every client that verifies it fail. */
function assertCovered(socket: Socket): void {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
  if (!CERTIFICATE_HOST || certificate?.checkHost(CERTIFICATE_HOST)) return
  const names = certificate?.subjectAltName ?? 'no certificate'
  throw new Error(`the certificate does not cover ${CERTIFICATE_HOST}: ${names}`)
}

/** A function that sends a line (or nothing) and returns the complete reply; rejects when its code is another. */
function conversation(socket: Socket): (line: string, code: string) => Promise<string> {
  let heard = ''
  let gone: Error | undefined
  let news = Promise.withResolvers<void>()
  const report = () => {
    news.resolve()
    news = Promise.withResolvers()
  }
  socket.on('data', chunk => {
    heard += chunk
    report()
  })
  socket.once('error', error => {
    gone = error
  })
  socket.once('close', () => {
    gone ??= new Error('the server closed the connection')
    report()
  })
  return async (line, code) => {
    if (line) socket.write(`${line}\r\n`)
    while (!/^\d{3} .*\r\n$/m.test(heard)) {
      if (gone) throw gone
      await news.promise
    }
    const reply = heard
    heard = ''
    if (!reply.startsWith(code)) throw new Error(`expected ${code}, got "${reply.trim()}"`)
    return reply
  }
}
