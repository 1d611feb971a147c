/** The inbound service as a process of its own, and a mongod, both of which are killed: what was accepted is processed. */
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { INBOUND_MESSAGES, type InboundDoc } from '../../../services/mail/inbound/store/inbound-messages.ts'
import { returnPathToken } from '../../../services/mail/message/return-path.ts'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, connectMongo } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { BOUNCES, statusReport } from '../../support/mail/inbound-environment.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'
import { startService } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

/** A mongod of its own with a message in the log, and the way to start the service. */
async function start() {
  const mongod = await startTestMongod()
  onTestFinished(() => mongod.stop())
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  onTestFinished(() => mongo.stop())
  const secret = randomBytes(32).toString('hex')
  const port = await freePort()
  const env = {
    MAIL_HOSTNAME: 'mail.test',
    SESSION_SECRET: secret,
    MONGODB_URI: mongod.uri,
    BOUNCE_DOMAIN: BOUNCES,
    INBOUND_LISTEN: `${port}:starttls`,
    METRICS_PORT: '0',
  }
  const run = async () => {
    const service = startService('inbound', env)
    onTestFinished(async () => {
      service.kill('SIGKILL')
      await service.exited
    })
    await service.line('ready')
    return service
  }
  const message = await giveMessage(mongo.db, newId('usr'), { mail_from: '' })
  const of = { messageId: message._id, recipient: 0, expiresAt: new Date() }
  const mac = (text: string) => createSecrets(secret).mac('return-path', text)
  const to = `${returnPathToken(of, BOUNCES, mac)}@${BOUNCES}`
  const bring = async () => {
    const conversation = await converse(port)
    await conversation.reply()
    await conversation.command('EHLO mx.example.net')
    const begun = await conversation.command('MAIL FROM:<>')
    const named = begun.code === 250 ? await conversation.command(`RCPT TO:<${to}>`) : begun
    if (named.code === 250) await conversation.command('DATA')
    const { text } = named.code === 250 ? await conversation.command(`${statusReport()}\r\n.`) : named
    conversation.destroy()
    return text
  }
  const statusOf = async () =>
    (await collectionOf(mongo.db, MESSAGES).findOne<MessageDoc>({ _id: message._id }))?.rcpts[0]?.status
  return { mongod, mongo, run, bring, statusOf }
}

test('killed after it accepted a report and before it processed it, it processes it after the next start', async () => {
  const { mongo, run, bring, statusOf } = await start()
  const service = await run()
  const inbound = collectionOf(mongo.db, INBOUND_MESSAGES)
  expect(await bring()).toMatch(/^250 2\.0\.0 accepted/)
  service.kill('SIGKILL')
  expect(await service.exited).toBe('SIGKILL')
  // As it was before the claim: the process may have been faster than the kill.
  await inbound.updateMany({}, { $set: { due: new Date(), attempts: 0 }, $unset: { outcomes: '' } })
  await collectionOf(mongo.db, MESSAGES).updateMany(
    {},
    { $set: { 'rcpts.0.status': 'delivered' }, $unset: { 'rcpts.0.report': '' } },
  )
  await run()
  await until(async () => (await inbound.countDocuments({ due: { $exists: true } })) === 0)
  expect(await statusOf()).toBe('bounced')
  const [doc] = await inbound.find<InboundDoc>({}).toArray()
  expect(doc).toMatchObject({ outcomes: ['bounced'], attempts: 1 })
  expect(await mongo.db.collection('events').countDocuments()).toBe(1)
})

test('while the database is away nothing is accepted, and afterwards everything is', async () => {
  const { mongod, run, bring, statusOf } = await start()
  await run()
  await mongod.crash()
  expect(await bring()).toMatch(/^451 4\.3\.0/)
  await mongod.start()
  // The service looks for a lost database every ten seconds.
  await until(async () => /^250/.test(await bring()), 60_000)
  await until(async () => (await statusOf()) === 'bounced')
})

test('without BOUNCE_DOMAIN it does not start and says why', async () => {
  const { mongod } = await start()
  const service = startService('inbound', {
    MAIL_HOSTNAME: 'mail.test',
    SESSION_SECRET: randomBytes(32).toString('hex'),
    MONGODB_URI: mongod.uri,
    METRICS_PORT: '0',
  })
  expect(await service.exited).toBe(78)
})
