/** Large messages over SMTP are stored while they are received, so that many of them do not exhaust memory. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { BODIES, readBody } from '../../../services/mail/store/bodies.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { sweepOrphanBodies } from '../../../services/mail/store/retention.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../support/database/test-database.ts'
import { openSender } from '../../support/mail/load-sender.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../../support/mail/submission-process.ts'
import {
  giveSendingAccount,
  logInAs,
  type SendingAccount,
  startSubmission,
} from '../../support/mail/submission-service.ts'
import { IMAGE_FLAGS } from '../../support/processes/image-flags.ts'
import { until } from '../../support/time/until.ts'

const MIB = 1024 * 1024
let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())

const text = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 74) }, () => `${randomBytes(54).toString('base64')}\r\n`).join('')
const mailOf = ({ domain }: SendingAccount, more = '') =>
  `From: Ann <ann@${domain.name}>\r\nSubject: large\r\n${more}\r\n`
const idOf = (reply: string) => /^250 2\.0\.0 queued as (em_[0-9a-z]{26})$/.exec(reply)?.[1] ?? reply
const partsLeft = () => collectionOf(mongo.db, BODIES).countDocuments({ m: { $nin: accepted } })
/** Ids of accepted messages. */
const accepted: string[] = []

async function setUp() {
  const service = await startSubmission(mongo)
  const account = await giveSendingAccount(mongo)
  const submit = async (mail: string, from = `ann@${account.domain.name}`) => {
    const client = await logInAs(service, account)
    const { text: reply } = await client.submit(from, ['bob@example.net'], mail)
    client.destroy()
    if (reply.startsWith('250')) accepted.push(idOf(reply))
    return reply
  }
  return { service, account, submit }
}

test.each([512 * 1024 - 200, 512 * 1024, 600 * 1024, 3 * MIB])(
  'stores a message of %i octets as it was sent',
  async size => {
    const { account, submit } = await setUp()
    const body = `${text(size)}..dots\r\nthe end\r\n`
    const id = idOf(await submit(`${mailOf(account)}${body.replace(/^\./gm, '..')}`))
    const message = await collectionOf(mongo.db, MESSAGES).findOne({ _id: id })
    const raw = (await readBody(mongo, id, message?.parts ?? 0))?.toString() ?? ''
    expect(raw).toMatch(new RegExp(`^Received: [^]*?id ${id};`))
    expect(raw.length).toBe(message?.size)
    expect(raw.endsWith(`\r\n\r\n${body}`)).toBe(true)
    expect(await mongo.db.collection('deliveries').countDocuments({ m: id })).toBe(1)
  },
)

describe('leaves nothing of a rejected large message', () => {
  test.each<[string, (account: SendingAccount) => string, RegExp]>([
    ['from a foreign sender', () => `From: a@stranger.example\r\n\r\n${text(2 * MIB)}`, /^550 5\.7\.1 /],
    ['with a NUL at its end', account => `${mailOf(account)}${text(2 * MIB)}\0\r\n`, /^550 5\.6\.0 .*NUL/],
    [
      'with a bare LF in the middle',
      account => `${mailOf(account)}${text(MIB)}a\nb\r\n${text(MIB)}`,
      /^550 5\.6\.0 .*bare/,
    ],
    [
      'whose header does not end',
      account => `${mailOf(account).trimEnd()}\r\n${'X-A: b\r\n'.repeat(200_000)}`,
      /^550 5\.6\.0 /,
    ],
  ])('%s', async (_, mail, reply) => {
    const { account, submit } = await setUp()
    expect(await submit(mail(account))).toMatch(reply)
    await until(async () => (await partsLeft()) === 0)
  })

  test('whose client disconnects', async () => {
    const { service, account } = await setUp()
    const client = await logInAs(service, account)
    for (const line of [`MAIL FROM:<ann@${account.domain.name}>`, 'RCPT TO:<bob@example.net>', 'DATA'])
      await client.command(line)
    client.write(`${mailOf(account)}${text(3 * MIB)}`)
    await until(async () => (await partsLeft()) > 0)
    client.destroy()
    await until(async () => (await partsLeft()) === 0)
  })
})

test('accepts a large message with an idempotency key once, and rejects another one with its key', async () => {
  const { account, submit } = await setUp()
  const mail = `${mailOf(account, 'X-Idempotency-Key: large-1\r\n')}${text(2 * MIB)}`
  const id = idOf(await submit(mail))
  expect(idOf(await submit(mail))).toBe(id)
  expect(await submit(`${mail}more\r\n`)).toMatch(/^55\d /)
  await until(async () => (await partsLeft()) === 0)
  expect(await collectionOf(mongo.db, MESSAGES).countDocuments({ user_id: account.userId })).toBe(1)
})

const peakMiB = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const ENVELOPE = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'

test('sixteen concurrent messages of 12 MiB from one login need bounded memory', async () => {
  const submission = await startSubmissionProcess({}, { flags: IMAGE_FLAGS })
  onTestFinished(() => submission.stop())
  const mail = `From: a@example.org\r\n\r\n${text(12 * MIB)}.\r\n`
  const senders = await Promise.all(Array.from({ length: 16 }, () => openSender(submission.port, LOGIN_NAME, PASSWORD)))
  const replies = await Promise.all(senders.map(sender => sender.send(ENVELOPE, mail)))
  expect(replies.map(reply => reply.slice(0, 3))).toEqual(Array(16).fill('250'))
  expect(peakMiB(submission.service.pid)).toBeLessThan(400)
}, 180_000)

test('a sweep removes the parts of a message whose process was killed', async () => {
  const submission = await startSubmissionProcess()
  onTestFinished(() => submission.stop())
  const { db } = submission.mongo
  const sender = await openSender(submission.port, LOGIN_NAME, PASSWORD)
  const lost = sender.send(ENVELOPE, `From: a@example.org\r\n\r\n${text(3 * MIB)}`).catch(() => 'lost')
  await until(async () => (await db.collection('bodies').countDocuments()) > 0)
  submission.service.kill('SIGKILL')
  expect(await lost).toBe('lost')
  const sweep = (hours: number) => sweepOrphanBodies(submission.mongo, new Date(Date.now() + hours * 3_600_000))
  const recorded = () => db.collection('orphan_bodies').countDocuments()
  expect([await sweep(1), await recorded()]).toEqual([0, 0])
  expect([await sweep(7), (await recorded()) > 0]).toEqual([0, true])
  await db.collection('orphan_bodies').updateMany({}, { $set: { seen_at: new Date(Date.now() - 7 * 3_600_000) } })
  expect(await sweep(14)).toBeGreaterThan(0)
  expect(await db.collection('bodies').countDocuments()).toBe(0)
  expect(await db.collection('messages').countDocuments()).toBe(0)
})
