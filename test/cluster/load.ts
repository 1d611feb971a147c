/**
 * Sends numbered messages over SMTP and HTTP at a steady rate through every disruption: a message is retried under the
 * same idempotency key until it is accepted. Ends with its standard input, and then prints what was accepted, the number
 * of each other reply, and the longest pause of each channel. Usage: node load.ts JSON
 */
import { setTimeout as sleep } from 'node:timers/promises'
import nodemailer from 'nodemailer'

/** The arguments of load.ts. */
export interface LoadOptions {
  /** First part of every subject. */
  prefix: string
  from: string
  to: string
  smtp: { host: string; port: number; user: string; pass: string }
  http: { url: string; token: string }
}

/** The output of load.ts. */
export interface LoadResult {
  /** Subjects of the messages that were accepted. */
  accepted: string[]
  /** Number of other replies, by reply. */
  refusals: Record<string, number>
  longestPauseMs: { smtp: number; http: number }
}

/** Pause between two messages of one lane: together some 40 messages a second, which two cores sustain next to the cluster. */
const PACE_MS = 100
/** Below the default of SEND_REQUESTS_PER_SECOND. */
const HTTP_PACE_MS = 150
const RETRY_MS = 250
/** After the end of the standard input. */
const LAST_TRIES_MS = 60_000
/** Upper bound, in case the standard input does not end. */
const MOST_MS = 20 * 60_000

if (import.meta.main) process.stdout.write(`${JSON.stringify(await load(JSON.parse(process.argv[2] ?? '')))}\n`)

async function load({ prefix, from, to, smtp, http }: LoadOptions): Promise<LoadResult> {
  const stop = AbortSignal.any([AbortSignal.timeout(MOST_MS), inputEnd()])
  const lastTries = new AbortController()
  stop.addEventListener('abort', () => setTimeout(() => lastTries.abort(), LAST_TRIES_MS).unref())
  const result: LoadResult = { accepted: [], refusals: {}, longestPauseMs: { smtp: 0, http: 0 } }
  const last = { smtp: performance.now(), http: performance.now() }
  const started = new Date()
  let next = 0

  async function sendUntilStopped(channel: 'smtp' | 'http', paceMs: number, send: (id: string) => Promise<unknown>) {
    while (!stop.aborted) {
      const id = `${prefix}-${next++}`
      // For a while after the stop, too: then it is known what was stored but not acknowledged.
      while (!(await accepted(channel, id, send)) && !lastTries.signal.aborted) await sleep(RETRY_MS)
      await sleep(paceMs)
    }
  }

  async function accepted(channel: 'smtp' | 'http', id: string, send: (id: string) => Promise<unknown>) {
    try {
      await send(id)
      const now = performance.now()
      result.longestPauseMs[channel] = Math.round(Math.max(result.longestPauseMs[channel], now - last[channel]))
      last[channel] = now
      result.accepted.push(id)
      return true
    } catch (error) {
      const reason = `${channel} ${reasonOf(error)}`
      result.refusals[reason] = (result.refusals[reason] ?? 0) + 1
      return false
    }
  }

  /** Half of the clients keep their connection, as pools do; the others reconnect each time. */
  const mailer = (keep: boolean) => {
    const { user, pass, host, port } = smtp
    const options = { host, port, auth: { user, pass }, requireTLS: true, tls: { rejectUnauthorized: false } }
    const times = { connectionTimeout: 5_000, greetingTimeout: 10_000, socketTimeout: 120_000 }
    return keep
      ? nodemailer.createTransport({ ...options, ...times, pool: true, maxConnections: 1 })
      : nodemailer.createTransport({ ...options, ...times })
  }
  // Over SMTP a key requires the same bytes, so values that change with time are fixed.
  const fixed = (id: string) => ({ date: started, messageId: `<${id}@load.test>` })
  const overSmtp = (transport: ReturnType<typeof mailer>) => (id: string) =>
    transport.sendMail({
      ...{ from, to, subject: id, text: `Message ${id}`, headers: { 'X-Idempotency-Key': id } },
      ...fixed(id),
    })
  const overHttp = async (id: string) => {
    const response = await fetch(`${http.url}/api/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${http.token}`, 'content-type': 'application/json', 'idempotency-key': id },
      body: JSON.stringify({ from, to: [to], subject: id, text: `Message ${id}` }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${(JSON.parse(text) as { code?: string }).code ?? ''}`)
  }

  const transports = [true, true, false, false].map(mailer)
  const senders = transports.map(transport => sendUntilStopped('smtp', PACE_MS, overSmtp(transport)))
  await Promise.all([...senders, sendUntilStopped('http', HTTP_PACE_MS, overHttp)])
  for (const transport of transports) transport.close()
  return result
}

/** The code of the reply, or of the socket with the kind of failure, without parts that vary. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { responseCode, code, cause } = error as Error & { responseCode?: number; code?: string; cause?: unknown }
  if (responseCode) return String(responseCode)
  if (cause instanceof Error) return reasonOf(cause)
  // nodemailer has one code for a connection that is refused, one that is reset and one that the server ends.
  if (code === 'ESOCKET') return `ESOCKET ${/E[A-Z]{5,}/.exec(error.message)?.[0] ?? error.message}`
  return code ?? error.message
}

function inputEnd(): AbortSignal {
  const controller = new AbortController()
  process.stdin.once('end', () => controller.abort()).resume()
  return controller.signal
}
