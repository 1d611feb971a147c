/** Counts statistics ahead of their readers: a report of 30 days then reads what is kept, however much was sent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { HOUR_MS, utcDayOf } from '../../../platform/durations.ts'
import { timeOfId } from '../../../platform/ids.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { isInMotion, startOf } from '../rules/stats-days.ts'
import { statsOfDays } from './stats.ts'

/** How far the pass over older days has come. */
interface PassDoc {
  _id: 'statistics'
  /** The account that was counted last; empty when the pass is complete. */
  user: string
  /** When the pass began. */
  at: Date
}

const PASSES = defineCollection<PassDoc>('sweeps')
/** Days that are not in motion any more change rarely: by scheduled mail. */
const PASS_MS = 6 * HOUR_MS

/** Bounds of a run. */
export interface CountRun {
  /** The clock: a run takes minutes when there is much to count. */
  now(): Date
  logDays: number
  /** Aborted when the process drains. */
  signal: AbortSignal
  /** A run ends after this time; the next one goes on. */
  mostMs: number
}

/**
 * Counts what does not hold any more: first the days of all accounts whose messages are in motion, then, once in six
 * hours, older ones. Answers how many days were counted. Several processes may run it in parallel: counts are replaced.
 */
export async function countStatistics(db: Db, run: CountRun): Promise<number> {
  const until = performance.now() + run.mostMs
  const goOn = () => !run.signal.aborted && performance.now() < until
  const users = (await collectionOf(db, MESSAGES).distinct('user_id')).toSorted()
  let counted = 0
  for (const user of users) {
    if (!goOn()) return counted
    for await (const day of activeDays(db, user, firstIdAt(run.now()).concat('~'))) {
      if (!isInMotion(day, run.now()) || !goOn()) break
      counted += await countDay(db, user, day, run)
    }
  }
  return counted + (await countOlder(db, users, run, goOn))
}

/** The older days of the accounts after the one that the last run ended with, unless a pass was complete lately. */
async function countOlder(db: Db, users: readonly string[], run: CountRun, goOn: () => boolean): Promise<number> {
  const passes = collectionOf(db, PASSES)
  const last = (await passes.findOne({ _id: 'statistics' })) ?? { user: '', at: new Date(0) }
  if (last.user === '' && run.now().getTime() - last.at.getTime() < PASS_MS) return 0
  const at = last.user === '' ? run.now() : last.at
  let counted = 0
  let user = last.user
  for (const next of users.filter(id => id > last.user)) {
    counted += await countOlderOf(db, next, run, goOn)
    if (!goOn()) break
    user = next
  }
  await passes.updateOne({ _id: 'statistics' }, { $set: { user: goOn() ? '' : user, at } }, { upsert: true })
  return counted
}

async function countOlderOf(db: Db, user: string, run: CountRun, goOn: () => boolean): Promise<number> {
  let counted = 0
  for await (const day of activeDays(db, user, firstIdAt(run.now()))) {
    if (!goOn()) break
    if (!isInMotion(day, run.now())) counted += await countDay(db, user, day, run)
  }
  return counted
}

/** Counts a day unless its counts hold; leaves as much time to others as it took. */
async function countDay(db: Db, user: string, day: string, { now, logDays }: CountRun): Promise<number> {
  const started = performance.now()
  const asked = now()
  const [counts] = await statsOfDays(db, user, [day], { now: asked, logDays, patience: 1 })
  if (counts?.counted_at.getTime() !== asked.getTime()) return 0
  await sleep(performance.now() - started)
  return 1
}

/** Days on which an account has messages with ids below a bound, the latest first: one step of the index for each. */
async function* activeDays(db: Db, user: string, bound: string): AsyncGenerator<string> {
  const messages = collectionOf(db, MESSAGES)
  for (let below = bound; ; ) {
    const found = await messages.findOne(
      { user_id: user, _id: { $lt: below } },
      { sort: { _id: -1 }, projection: { _id: 1 } },
    )
    const time = timeOfId(found?._id ?? '')
    if (Number.isNaN(time)) return
    const day = utcDayOf(new Date(time))
    yield day
    below = firstIdAt(startOf(day))
  }
}
