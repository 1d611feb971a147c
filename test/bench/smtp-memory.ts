/**
 * Peak memory of an SMTP process while one login submits many large messages at once, with the flags of the image.
 * `node test/bench/smtp-memory.ts [large|dots] [connections] [MiB a message] [seconds]`. With BENCH_CGROUP set to a
 * writable memory cgroup the process runs inside of it, and a kill by its limit shows as the exit; mongod and the
 * clients run outside.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { IMAGE_FLAGS } from '../support/processes/image-flags.ts'

const [kind = 'large'] = process.argv.slice(2)
const [connections = 14, mib = 20, seconds = 60] = process.argv.slice(3).map(Number)
const { BENCH_CGROUP: cgroup, BENCH_HOST: host = '127.0.0.1' } = process.env
const HEAD = 'From: Bench <a@example.org>\r\nTo: b@example.net\r\nSubject: bench\r\n\r\n'
const ENVELOPE = ['MAIL FROM:<bounce@example.org>', 'RCPT TO:<b@example.net>', 'DATA']

const submission = await startSubmissionProcess({}, { flags: IMAGE_FLAGS, cgroup })
const { port } = submission

const line = kind === 'dots' ? '..\r\n' : `${randomBytes(54).toString('base64')}\r\n`
const block = Buffer.from(
  kind === 'dots'
    ? line.repeat(65_536 / line.length)
    : Array.from({ length: 900 }, () => `${randomBytes(54).toString('base64')}\r\n`).join(''),
)

const count = { accepted: 0, temporary: 0, lost: 0 }
const end = performance.now() + seconds * 1_000
const restarts: number[] = []

/** One connection: logs in, sends one large message after another, reconnects when the connection is lost. */
async function client(): Promise<void> {
  while (performance.now() < end) {
    await conversation().catch(() => void count.lost++)
    await sleep(500)
  }
}

async function conversation(): Promise<void> {
  const socket = connect({ port, host, rejectUnauthorized: false })
  const replies: string[] = []
  let wake: () => void = () => undefined
  let text = ''
  let over = false
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n')) {
      if (text[3] !== '-') replies.push(text.slice(0, at))
      text = text.slice(at + 2)
    }
    wake()
  })
  socket.on('error', () => undefined)
  socket.on('drain', () => wake())
  socket.on('close', () => {
    over = true
    wake()
  })
  const reply = async (): Promise<string> => {
    while (replies.length === 0 && !over) await new Promise<void>(resolve => (wake = resolve))
    const [first] = replies.splice(0, 1)
    if (first === undefined) throw new Error('the connection is lost')
    return first
  }
  const ask = (command: string) => {
    socket.write(`${command}\r\n`)
    return reply()
  }
  const writeBody = async () => {
    for (let sent = 0; sent < mib * 1024 * 1024 && !over; sent += block.length)
      if (!socket.write(block) && !over) await new Promise<void>(resolve => (wake = resolve))
  }
  await reply()
  await ask('EHLO bench.example')
  await ask(`AUTH PLAIN ${Buffer.from(`\0${LOGIN_NAME}\0${PASSWORD}`).toString('base64')}`)
  try {
    while (performance.now() < end) {
      for (const command of ENVELOPE) await ask(command)
      socket.write(HEAD)
      await writeBody()
      const answer = await ask('.')
      if (answer.startsWith('250')) count.accepted++
      else if (answer.startsWith('4')) {
        count.temporary++
        await sleep(500)
      } else throw new Error(answer)
    }
  } finally {
    socket.destroy()
  }
}

const supervised = (async () => {
  while (performance.now() < end) {
    const rest = sleep(Math.max(0, end - performance.now()), 'over' as const)
    // By the result of the wait, not by the time: a timer may fire a moment early.
    if ((await Promise.race([submission.service.exited, rest])) === 'over') return
    restarts.push(Math.round((end - performance.now()) / 1000))
    await submission.restart()
  }
})()

let peak = 0
const peakOf = () => {
  try {
    const { pid } = submission.service
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024 || 0)
  } catch {
    // between two processes
  }
}
const watch = setInterval(peakOf, 200)
const clients = Promise.all([supervised, ...Array.from({ length: connections }, client)])
await Promise.race([clients, sleep((seconds + 60) * 1_000)])
clearInterval(watch)
process.stdout.write(
  `${kind}, ${connections} connections, ${mib} MiB each, ${seconds} s: accepted ${count.accepted}, 4xx ${count.temporary}, ` +
    `connections lost ${count.lost}, process ended ${restarts.length} times, peak ${peak.toFixed(0)} MiB\n`,
)
await submission.stop()
process.exit()
