import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateUser } from '../../../services/accounts/store/users.ts'
import { updateCredential } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../support/database/test-database.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import {
  giveSendingAccount,
  logInAs,
  type SendingAccount,
  startSubmission,
} from '../../support/mail/submission-service.ts'
import { runningClock } from '../../support/time/test-clock.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())

const idOf = (text: string) => /^250 2\.0\.0 queued as (em_[0-9a-z]{26})$/.exec(text)?.[1] ?? text
const mailOf = ({ domain }: SendingAccount, more = '') => `From: Ann <ann@${domain.name}>\r\n${more}\r\nhi\r\n`
const countOf = (account: SendingAccount) => mongo.db.collection('messages').countDocuments({ user_id: account.userId })

/** Sends one message on a new connection and returns the text of the reply. */
async function send(service: { tls: number; starttls: number }, account: SendingAccount, mail = mailOf(account)) {
  const client = await logInAs(service, account)
  const { text } = await client.submit(`bounce@${account.domain.name}`, ['bob@example.net'], mail)
  client.destroy()
  return text
}

test.each(['starttls', 'tls'] as const)('a message from the %s port is stored as submitted', async mode => {
  const service = await startSubmission(mongo)
  const account = await giveSendingAccount(mongo)
  const client = await converse(service[mode], { tls: mode === 'tls' })
  await client.reply()
  await client.logIn(account.credential.username, PASSWORD)
  const mail = mailOf(account, 'Subject: hello\r\nBcc: secret@example.net\r\n')
  const id = idOf((await client.submit(`bounce@${account.domain.name}`, ['bob@example.net'], mail)).text)
  expect(await collectionOf(mongo.db, MESSAGES).findOne({ _id: id })).toMatchObject({
    user_id: account.userId,
    domain_id: account.domain._id,
    via: { channel: 'smtp', id: account.credential._id },
    mail_from: `bounce@${account.domain.name}`,
    from: `ann@${account.domain.name}`,
    subject: 'hello',
    rcpts: [{ email: 'bob@example.net', status: 'queued' }],
  })
  expect(await mongo.db.collection('deliveries').countDocuments({ m: id })).toBe(1)
  const raw = (await readBody(mongo, id, 1))?.toString()
  expect(raw).toMatch(/^Received: by mail\.example\.net with ESMTPSA id em_/)
  expect(raw).not.toContain('secret@example.net')
})

test('RECEIVED_SHOWS_CLIENT adds the address and the name of the client', async () => {
  const service = await startSubmission(mongo, { RECEIVED_SHOWS_CLIENT: 'true' })
  const id = idOf(await send(service, await giveSendingAccount(mongo)))
  expect((await readBody(mongo, id, 1))?.toString()).toMatch(
    /^Received: from client\.example \(\[127\.0\.0\.1\]\)\r\n\tby mail\.example\.net with ESMTPSA id em_/,
  )
})

test('the number of slots in the database takes precedence over the setting', async () => {
  const many = await startSubmission(mongo, { SLOTS: '64' })
  const one = await startSubmission(mongo, { SLOTS: '1' })
  const account = await giveSendingAccount(mongo)
  const ids = [idOf(await send(many, account)), idOf(await send(one, account))]
  const deliveries = await mongo.db
    .collection('deliveries')
    .find({ m: { $in: ids } })
    .toArray()
  expect(deliveries).toHaveLength(2)
  expect(new Set(deliveries.map(({ slot }) => slot)).size).toBe(1) // same site, same slot
  expect(deliveries[0]?.slot).not.toBe(0)
})

describe('an account may not', () => {
  test('send as another account, by envelope or header', async () => {
    const service = await startSubmission(mongo)
    const [one, two] = [await giveSendingAccount(mongo), await giveSendingAccount(mongo)]
    const client = await logInAs(service, one)
    expect((await client.command(`MAIL FROM:<x@${two.domain.name}>`)).text).toMatch(
      /^550 5\.7\.1 .* is not a domain of this/,
    )
    expect(await send(service, one, mailOf(two))).toMatch(/^550 5\.7\.1 .* is not a domain of this account/)
    expect(await countOf(one)).toBe(0)
  })

  test('send from a domain that is not verified', async () => {
    const service = await startSubmission(mongo)
    const account = await giveSendingAccount(mongo)
    const pending = await giveDomain(mongo.db, account.userId, `pending-${account.domain.name}`)
    const client = await logInAs(service, account)
    expect((await client.command(`MAIL FROM:<x@${pending.name}>`)).text).toMatch(/^550 5\.7\.1 .* not verified/)
    expect(await send(service, account, mailOf({ ...account, domain: pending }))).toMatch(
      /^550 5\.7\.1 .* not verified/,
    )
  })

  test('send with a sender that its login does not allow', async () => {
    const service = await startSubmission(mongo)
    const name = 'restricted.example'
    const account = await giveSendingAccount(mongo, { allowed_senders: [`ann@${name}`] }, { name })
    const client = await logInAs(service, account)
    expect((await client.command(`MAIL FROM:<bob@${name}>`)).text).toMatch(/^550 5\.7\.1 This login may not send as/)
    expect((await client.command(`MAIL FROM:<ann@${name}>`)).code).toBe(250)
  })
})

test.each<[string, (account: SendingAccount) => Promise<unknown>]>([
  ['account is suspended', ({ userId }) => updateUser(mongo.db, userId, { status: 'suspended' })],
  [
    'login is disabled',
    ({ userId, credential }) => updateCredential(mongo.db, userId, credential._id, { disabled: true }),
  ],
])('an open session whose %s is rejected within five seconds', async (_, cut) => {
  const clock = runningClock()
  const service = await startSubmission(mongo, {}, clock)
  const account = await giveSendingAccount(mongo)
  const client = await logInAs(service, account)
  const from = `ann@${account.domain.name}`
  expect((await client.submit(from, ['bob@example.net'], mailOf(account))).code).toBe(250)
  await cut(account)
  clock.advance(5_000)
  expect((await client.command(`MAIL FROM:<${from}>`)).code).toBe(535)
})

test('the hourly limit of a login counts across two processes', async () => {
  const services = [await startSubmission(mongo), await startSubmission(mongo)]
  const account = await giveSendingAccount(mongo, { messages_per_hour: 5 })
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => send(services[i % 2] ?? { tls: 0, starttls: 0 }, account)),
  )
  expect(replies.filter(text => text.startsWith('250'))).toHaveLength(5)
  expect(replies.filter(text => text.startsWith('452 4.7.1'))).toHaveLength(7)
  expect(await countOf(account)).toBe(5)
})

test('20 concurrent messages with one X-Idempotency-Key across two processes are stored once', async () => {
  const services = [await startSubmission(mongo), await startSubmission(mongo)]
  const account = await giveSendingAccount(mongo)
  const mail = mailOf(account, 'X-Idempotency-Key: order-17\r\n')
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => send(services[i % 2] ?? { tls: 0, starttls: 0 }, account, mail)),
  )
  expect(new Set(replies.map(idOf)).size).toBe(1)
  expect(await countOf(account)).toBe(1)
  expect(await mongo.db.collection('deliveries').countDocuments({ user_id: account.userId })).toBe(1)
  expect(await send(services[0] ?? { tls: 0, starttls: 0 }, account, `${mail}more\r\n`)).toMatch(/^554 5\.7\.1 /)
})
