/** Refusals for failed authentication: from a receiver over the worker into the domain, and away again. */
import { expect, test } from 'vitest'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { findDomainById } from '../../../services/mail/domains/store/domains.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const domainOf = async ({ mongo, domain }: DeliveryEnvironment) =>
  (await findDomainById(mongo.db, domain._id)) as DomainDoc
const troubled = (environment: DeliveryEnvironment) =>
  environment.mongo.db.collection('sites').countDocuments({ status: { $ne: 'up' } })

test('a temporary refusal is deferred without slowing the site down, shows at the domain and goes with a delivery', async () => {
  const environment = await startDeliveryEnvironment()
  const worker = await environment.work()
  const refused = await environment.submit({ to: ['rcpt-421-4.7.26', 'rcpt-550-5.7.26'].map(at) })
  await until(async () => (await environment.message(refused)).rcpts.every(({ status }) => status !== 'queued'))
  const { rcpts } = await environment.message(refused)
  expect(rcpts.map(({ status }) => status)).toEqual(['deferred', 'bounced'])
  // Refusals are written at intervals, one of which may end between the two.
  const refusals = async () => (await domainOf(environment)).authentication?.refusals ?? []
  const counts = async () => (await refusals()).flatMap(({ hours }) => hours.map(({ count }) => count))
  await until(async () => (await counts()).reduce((sum, count) => sum + count, 0) === 2)
  const [refusal] = await refusals()
  expect(refusal).toMatchObject({ site: '[127.0.0.1]', enhanced: expect.stringMatching(/^[45]\.7\.26$/) })
  expect(await counts()).toEqual([2])
  expect(await troubled(environment)).toBe(0)
  const metric = await environment.metrics.registry.getSingleMetricAsString('postwright_authentication_refusals_total')
  expect(metric).toContain('{site="other",service="test"} 2')

  const taken = await environment.submit({ to: [at('ok')] })
  await until(async () => (await environment.message(taken)).left === 0)
  await until(async () => (await domainOf(environment)).authentication === undefined)
  await worker.stop()
})

test('a worker that stops writes what it has counted', async () => {
  const environment = await startDeliveryEnvironment()
  const worker = await environment.work()
  const id = await environment.submit({ to: [at('rcpt-550-5.7.26')] })
  await until(async () => (await environment.message(id)).left === 0 && (await environment.deliveries(id)).length === 0)
  await worker.stop()
  expect((await domainOf(environment)).authentication?.refusals).toMatchObject([{ code: 550, enhanced: '5.7.26' }])
})

test('a receiver that is only too slow is still given less', async () => {
  const environment = await startDeliveryEnvironment()
  await environment.work()
  await environment.submit({ to: [at('rcpt-421-4.7.0')] })
  await until(async () => (await troubled(environment)) === 1)
  expect((await domainOf(environment)).authentication).toBeUndefined()
})
