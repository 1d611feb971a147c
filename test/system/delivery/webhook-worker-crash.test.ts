/** A worker that is killed while it sends webhooks loses nothing, and repeats under the same ids. */
import { expect, onTestFinished, test } from 'vitest'
import { createMailWebhook } from '../../../services/mail/webhooks/manage-webhooks.ts'
import { mailWebhooksOf, queueMailEvents } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { MAIL_WEBHOOK_EVENTS, webhookCollections } from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { databaseForThisTest, sharedMongoUri } from '../../support/database/test-database.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { startService } from '../../support/processes/service-process.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

const EVENTS = 300

test('kill -9 of a worker in the middle of its requests', async () => {
  const mongo = await databaseForThisTest()
  const foundation = testFoundation(mongo, { WEBHOOK_ALLOW_PRIVATE: 'true' })
  await ensureIndexes(mongo.db, webhookCollections)
  const user = await giveUser(mongo.db)
  const receiver = await startWebhookReceiver()
  const deps = { ...foundation, ownDomains: async () => [] }
  const settings = { name: '', url: receiver.url, events: [], domain_ids: [], enabled: true }
  const { secret } = await createMailWebhook(deps, user._id, settings)
  receiver.secrets.push(secret)
  const keys = Array.from({ length: EVENTS }, (_, n) => `k${n}`)
  const data = { suppression_id: 's', email: 'x@example.net', reason: 'manual' }
  await queueMailEvents(
    mailWebhooksOf(foundation),
    keys.map(key => ({ type: 'suppression.added', userId: user._id, at: new Date(), key, data })),
  )
  // The first worker gets no answer to the requests after the fiftieth, and dies with them under way.
  receiver.reply = response => {
    if (receiver.received.length <= 50) response.writeHead(204).end()
  }
  const { SESSION_SECRET, MAIL_HOSTNAME } = foundation.config
  const env = {
    ...{ MONGODB_URI: uriOf(mongo.db.databaseName), WEBHOOK_ALLOW_PRIVATE: 'true', DELIVERY_MODE: 'capture' },
    ...{ SESSION_SECRET, MAIL_HOSTNAME, METRICS_PORT: '0' },
  }
  const first = startService('worker', env)
  onTestFinished(() => first.kill('SIGKILL'))
  await receiver.heard(52)
  first.kill('SIGKILL')
  await first.exited
  const events = collectionOf(mongo.db, MAIL_WEBHOOK_EVENTS)
  // An answer that arrived but was not recorded yet may be repeated as well.
  const recorded = new Set((await events.find({ state: 'done' }, { projection: { _id: 1 } }).toArray()).map(e => e._id))
  receiver.reply = response => void response.writeHead(204).end()
  const second = startService('worker', env)
  onTestFinished(async () => {
    second.kill('SIGTERM')
    await second.exited
  })
  // What the dead worker held becomes due again after its claim, a minute: here at once.
  await events.updateMany({ state: 'waiting', attempts: { $gt: 0 } }, { $set: { due: new Date(0) } })
  await until(async () => (await events.countDocuments({ state: 'done' })) === EVENTS, 120_000)
  const ids = receiver.received.map(({ id }) => id)
  expect(new Set(ids).size).toBe(EVENTS)
  const twice = ids.filter((id, n) => ids.indexOf(id) !== n)
  expect(twice.length).toBeGreaterThan(0)
  expect(twice.filter(id => recorded.has(id))).toEqual([])
  expect(receiver.forged).toBe(0)
}, 240_000)

function uriOf(database: string): string {
  const uri = new URL(sharedMongoUri())
  uri.pathname = `/${database}`
  return uri.toString()
}
