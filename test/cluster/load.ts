/**
 * Sends numbered messages over submission and goes on through every disruption: a message is tried again, under the
 * same idempotency key, until it is accepted. Prints a JSON line with what was accepted and the longest pause.
 * Usage: node load.ts HOST PORT USER PASSWORD FROM TO COUNT PREFIX
 */
import { setTimeout as sleep } from 'node:timers/promises'
import nodemailer from 'nodemailer'

const [host = '', port = '', user = '', pass = '', from = '', to = '', count = '', prefix = ''] = process.argv.slice(2)
const TRIES = 240
const PAUSE_MS = 500
const LANES = 4

const transport = () =>
  nodemailer.createTransport({
    host,
    port: Number(port),
    secure: false,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth: { user, pass },
    connectionTimeout: 5_000,
    socketTimeout: 20_000,
  })

let next = 0
let lastAccepted = performance.now()
let longestPause = 0
let refusals = 0
const accepted: string[] = []

await Promise.all(Array.from({ length: LANES }, lane))
process.stdout.write(
  `${JSON.stringify({ accepted: accepted.length, of: Number(count), refusals, longestPauseMs: Math.round(longestPause) })}\n`,
)

async function lane(): Promise<void> {
  const mailer = transport()
  while (next < Number(count)) {
    const id = `${prefix}-${next++}`
    if (await submit(mailer, id)) accepted.push(id)
  }
  mailer.close()
}

async function submit(mailer: ReturnType<typeof transport>, id: string): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    try {
      await mailer.sendMail({
        from,
        to,
        subject: id,
        text: `Message ${id}`,
        messageId: `<${id}@load.test>`,
        headers: { 'X-Idempotency-Key': id },
      })
      const now = performance.now()
      longestPause = Math.max(longestPause, now - lastAccepted)
      lastAccepted = now
      return true
    } catch {
      refusals++
      await sleep(PAUSE_MS)
    }
  }
  return false
}
