/** The subscriptions module with its own database, without HTTP: for tests of single use cases and of the store. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { Model } from '../../../services/platform/database/models.ts'
import { ensureIndexes } from '../../../services/platform/database/mongo.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import { type CreatedApp, createApp } from '../../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../../services/subscriptions/catalogue/manage-plans.ts'
import { mergePlan, type PlanFields } from '../../../services/subscriptions/catalogue/rules/plan.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../../../services/subscriptions/context.ts'
import { bookPayment, type OrderPayment } from '../../../services/subscriptions/payments/orders.ts'
import { upsertUser } from '../../../services/subscriptions/people/manage-end-users.ts'
import { subscriptionCollections } from '../../../services/subscriptions/store/collections.ts'
import type { EndUserDoc, SubscriptionDoc } from '../../../services/subscriptions/store/documents.ts'
import type { PlanDoc } from '../../../services/subscriptions/store/models.ts'
import { freshDatabase } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { type TestClock, testClock } from '../time/test-clock.ts'

/** The use cases, their dependencies, and functions that create records. */
export interface SubscriptionsModule {
  context: Subscriptions
  foundation: Foundation
  clock: TestClock
  giveApp(appKey: string): Promise<CreatedApp>
  giveUser(appKey: string, openid?: string): Promise<EndUserDoc>
  /** A plan of 30 days for 19.90, with the given changes. */
  givePlan(appKey: string, fields?: PlanFields): Promise<PlanDoc>
  /** A payment for the plan; by default by alipay and with its price. */
  pay(user: EndUserDoc, plan: PlanDoc, more?: Partial<OrderPayment>): Promise<SubscriptionDoc>
  /** The record in the database. */
  stored(id: number): Promise<SubscriptionDoc>
}

/**
 * Opens it, by default for one test; `closing` gets the function that closes it. The clock stays at 18:00 in Shanghai until
 * it is advanced.
 */
export async function openSubscriptionsModule(
  env: Readonly<Record<string, string>> = {},
  closing: (close: () => Promise<void>) => void = onTestFinished,
): Promise<SubscriptionsModule> {
  const mongo = await freshDatabase()
  closing(() => mongo.stop())
  await ensureIndexes(mongo.db, subscriptionCollections)
  const clock = testClock()
  const foundation = testFoundation(mongo, env, clock)
  const subscriptions = openSubscriptions(foundation)
  let number = 0
  return {
    context: subscriptions,
    foundation,
    clock,
    giveApp(appKey) {
      const spec = { app_name: appKey, app_description: '', status: '1' as const }
      return createApp(subscriptions, systemActor, spec, { appKey })
    },
    async giveUser(appKey, openid = `openid-${++number}`) {
      const login = { identities: { openid }, profile: { email: `${openid}@example.com` } }
      return (await upsertUser(subscriptions, appKey, login)).user
    },
    givePlan(appKey, fields = {}) {
      const spec = { name: `plan-${++number}`, price: 1990, duration: 30, features: ['all'], ...fields }
      return createPlan(subscriptions, systemActor, appKey, mergePlan(undefined, spec))
    },
    async pay(user, plan, more = {}) {
      const paymentId = `pay-${++number}`
      const price = { amountCents: plan.price_cents, paidAt: clock.now() }
      const purchase = { appKey: user.app_key, userId: user._id, plan, method: 'alipay', paymentId, ...price, ...more }
      return (await bookPayment(subscriptions, systemActor, purchase)).subscription
    },
    async stored(id) {
      const found = await subscriptions.collections.subscriptions.findOne({ _id: id })
      if (!found) throw new Error(`there is no subscription ${id}`)
      return found
    },
  }
}

/** The same use cases, in which something happens once: right after a document of this model was read. */
export function interrupted(
  context: Subscriptions,
  name: 'channels' | 'webhooks',
  between: () => Promise<unknown>,
): Subscriptions {
  const { schema: known, db, collection } = context.collections[name] as Model<object>
  const schema = known.clone()
  let isDone = false
  schema.post('findOne', async () => {
    if (isDone) return
    isDone = true
    await between()
  })
  const model = db.model(`${name}-${randomUUID()}`, schema, collection.name)
  return { ...context, collections: { ...context.collections, [name]: model } }
}

/** The result of a request: the code of its error, else `done(result)`. */
export function codeOf<T>(work: Promise<T>, done: (result: T) => string = () => 'done'): Promise<string | undefined> {
  return work.then(done, (error: { code?: string }) => error.code)
}
