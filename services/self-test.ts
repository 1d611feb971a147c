/** Main of `helm test`: every API answers, every SMTP port offers TLS and login, and none relays for strangers. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'

const { PANEL_URL = '', SEND_URL = '', ADMIN_URL = '', SMTP_HOST = '', SMTP_PORTS = '' } = process.env
const SERVICE_WAIT_MS = 15_000
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
  ...SMTP_PORTS.split(',')
    .filter(Boolean)
    .map(port => check(`SMTP port ${port} relays for nobody`, () => refusesRelay(Number(port)))),
])
for (const { name, ok, detail } of results)
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}${detail ? `: ${detail}` : ''}\n`)
process.exit(results.every(({ ok }) => ok) ? 0 : 1)

async function check(name: string, work: () => Promise<string>): Promise<void> {
  try {
    results.push({ name, ok: true, detail: await connected(work) })
  } catch (error) {
    results.push({ name, ok: false, detail: error instanceof Error ? error.message : String(error) })
  }
}

/** A Service refuses connections until the node's proxy has heard of its ready pods: a moment after `helm --wait` ends. */
async function connected<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + SERVICE_WAIT_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!refused(error) || performance.now() > deadline) throw error
      await sleep(500)
    }
  }
}

function refused(error: unknown): boolean {
  const cause = error instanceof Error && error.cause ? error.cause : error
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}

async function status(url: string, expected: number, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })
  if (response.status !== expected) throw new Error(`${url} answered ${response.status}, not ${expected}`)
  return String(response.status)
}

/** Talks SMTP without a login: MAIL must be refused with 530 (RFC 4954 section 6). */
async function refusesRelay(port: number): Promise<string> {
  const socket =
    port === 465 ? connectTls({ host: SMTP_HOST, port, rejectUnauthorized: false }) : connect({ host: SMTP_HOST, port })
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer within 10 s')))
  try {
    await reply(socket, '220')
    const offers = await command(socket, 'EHLO self-test.invalid', '250')
    if (port !== 465 && !/STARTTLS/i.test(offers)) throw new Error('STARTTLS is not offered')
    await command(socket, 'MAIL FROM:<stranger@self-test.invalid>', '530')
    return 'MAIL without login got 530'
  } finally {
    socket.destroy()
  }
}

function command(socket: Socket, line: string, code: string): Promise<string> {
  socket.write(`${line}\r\n`)
  return reply(socket, code)
}

async function reply(socket: Socket, code: string): Promise<string> {
  let text = ''
  while (!/^\d{3} .*\r\n$/m.test(text)) text += String((await once(socket, 'data'))[0])
  if (!text.startsWith(code)) throw new Error(`expected ${code}, got "${text.trim()}"`)
  return text
}
