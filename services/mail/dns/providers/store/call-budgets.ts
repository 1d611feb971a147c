/** Call budgets of DNS accounts in the database, so that all processes together keep below a vendor's limit. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../../platform/clock.ts'
import { collectionOf, type Db, defineCollection } from '../../../../platform/database/mongo.ts'
import { HOUR_MS } from '../../../../platform/durations.ts'
import { type Allowance, type BucketState, refill, waitFor } from '../rules/call-budget.ts'

interface BudgetDoc extends BucketState {
  _id: string
  exp: Date
}

/** Buckets by account; they go an hour after their last use. */
export const dnsBudgets = defineCollection<BudgetDoc>('dns_budgets', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** Longest wait for a call in milliseconds; a longer one fails with {@link BudgetExhausted}. */
const PATIENCE_MS = 10_000

/** The next call would have to wait for more than ten seconds. */
export class BudgetExhausted extends Error {
  /** Seconds to wait. */
  readonly retryAfter: number
  constructor(retryAfter: number) {
    super(`the call budget is used up for ${retryAfter} s`)
    this.name = 'BudgetExhausted'
    this.retryAfter = retryAfter
  }
}

/** Takes one call from the account's bucket and waits for its turn. Throws {@link BudgetExhausted}. */
export async function takeCall(db: Db, clock: Clock, account: string, allowance: Allowance): Promise<void> {
  const collection = collectionOf(db, dnsBudgets)
  for (;;) {
    const now = clock.now()
    const stored = await collection.findOne({ _id: account })
    const before = stored ?? { _id: account, tokens: allowance.burst, at: now }
    const filled = refill(before, allowance, now)
    const wait = waitFor(filled, allowance)
    if (wait > PATIENCE_MS) throw new BudgetExhausted(Math.ceil(wait / 1000))
    const next = { tokens: filled.tokens - 1, at: now, exp: new Date(now.getTime() + HOUR_MS) }
    const guard = stored ? { _id: account, tokens: stored.tokens, at: stored.at } : { _id: account }
    const won = stored
      ? (await collection.updateOne(guard, { $set: next })).modifiedCount === 1
      : (await collection.updateOne(guard, { $setOnInsert: next }, { upsert: true })).upsertedCount === 1
    if (!won) continue // another process took a call in this moment
    if (wait > 0) await sleep(wait)
    return
  }
}

/** No calls for this many seconds, as the provider asked. */
export async function blockCalls(db: Db, clock: Clock, account: string, seconds: number): Promise<void> {
  const now = clock.now()
  const until = new Date(now.getTime() + seconds * 1000)
  await collectionOf(db, dnsBudgets).updateOne(
    { _id: account },
    {
      $max: { blocked_until: until },
      $set: { exp: new Date(until.getTime() + HOUR_MS) },
      $setOnInsert: { tokens: 0, at: now },
    },
    { upsert: true },
  )
}
