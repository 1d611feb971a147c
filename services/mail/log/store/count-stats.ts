/** Counts statistics ahead of their readers: a report of 30 days then reads what is kept, however much was sent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS, utcDayOf } from '../../../platform/durations.ts'
import { timeOfId } from '../../../platform/ids.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { isInMotion, MOTION_MS, startOf } from '../rules/stats-days.ts'
import { statsOfDays } from './stats.ts'

/** How far the pass over older days (`statistics`), or over days in motion, has come. */
interface PassDoc {
  _id: 'statistics' | 'statistics-in-motion'
  /** The account that was counted last; empty when the pass is complete. */
  user: string
  /** When the pass began. */
  at: Date
}

const PASSES = defineCollection<PassDoc>('sweeps')
/** Days that are not in motion any more change rarely: by scheduled mail. */
const PASS_MS = 6 * HOUR_MS

/** Messages in motion from which on an account is counted ahead: fewer are counted in the time of a page when someone asks. */
const COUNTED_AHEAD = 1_000
/** The part of a run that older days take at most: what is not counted before it is removed is not known any more. */
const OLDER_SHARE = 0.5

/** Bounds of a run. */
export interface CountRun {
  /** The clock: a run takes minutes when there is much to count. */
  now(): Date
  logDays: number
  /** Aborted when the process drains. */
  signal: AbortSignal
  /** A run ends after this time; the next one goes on. */
  mostMs: number
  /** Messages in motion from which on an account is counted ahead; default 1,000. */
  countedAhead?: number | undefined
}

/**
 * Counts what does not hold any more: once in six hours the older days of all accounts, and always the days whose
 * messages are in motion, of the accounts that have many. Each goes on with the account after the last one, so that every
 * account has its turn however many there are. Answers how many days were counted. Several processes may run it in
 * parallel: counts are replaced.
 */
export async function countStatistics(db: Db, run: CountRun): Promise<number> {
  const started = performance.now()
  const goOnFor = (ms: number) => () => !run.signal.aborted && performance.now() < started + ms
  const users = (await collectionOf(db, MESSAGES).distinct('user_id')).toSorted()
  const older = await countOlder(db, users, run, goOnFor(run.mostMs * OLDER_SHARE))
  return older + (await countInMotion(db, users, run, goOnFor(run.mostMs)))
}

/** The older days of the accounts after the one that the last run ended with, unless a pass was complete lately. */
async function countOlder(db: Db, users: readonly string[], run: CountRun, goOn: () => boolean): Promise<number> {
  const last = (await collectionOf(db, PASSES).findOne({ _id: 'statistics' })) ?? { user: '', at: new Date(0) }
  if (last.user === '' && run.now().getTime() - last.at.getTime() < PASS_MS) return 0
  const pass = { _id: 'statistics' as const, at: last.user === '' ? run.now() : last.at, user: last.user }
  return countEach(
    db,
    users.filter(id => id > last.user),
    pass,
    goOn,
    user => countOlderOf(db, user, run, goOn),
  )
}

/**
 * The days in motion of all accounts, from the one after the last that was begun: an account whose days take longer than a
 * run does not keep the others waiting.
 */
async function countInMotion(db: Db, users: readonly string[], run: CountRun, goOn: () => boolean): Promise<number> {
  const last = (await collectionOf(db, PASSES).findOne({ _id: 'statistics-in-motion' }))?.user ?? ''
  const inTurn = [...users.filter(id => id > last), ...users.filter(id => id <= last)]
  const pass = { _id: 'statistics-in-motion' as const, at: run.now(), user: last, isBegun: true }
  return countEach(db, inTurn, pass, goOn, user => countInMotionOf(db, user, run, goOn))
}

/** Counts account after account while there is time, and notes the last one that is complete, or `isBegun` is enough. */
async function countEach(
  db: Db,
  users: readonly string[],
  { _id, at, user: last, isBegun = false }: PassDoc & { isBegun?: boolean },
  goOn: () => boolean,
  count: (user: string) => Promise<number>,
): Promise<number> {
  let counted = 0
  let user = last
  for (const next of users) {
    if (!goOn()) break
    counted += await count(next)
    if (isBegun || goOn()) user = next
  }
  await collectionOf(db, PASSES).updateOne({ _id }, { $set: { user: goOn() ? '' : user, at } }, { upsert: true })
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

async function countInMotionOf(db: Db, user: string, run: CountRun, goOn: () => boolean): Promise<number> {
  const oldest = firstIdAt(new Date(run.now().getTime() - MOTION_MS - DAY_MS))
  const recent = { user_id: user, _id: { $gte: oldest } }
  const many = await collectionOf(db, MESSAGES).findOne(recent, { skip: leastOf(run) - 1, projection: { _id: 1 } })
  if (!many) return 0
  let counted = 0
  for await (const day of activeDays(db, user, firstIdAt(run.now()).concat('~'))) {
    if (!isInMotion(day, run.now()) || !goOn()) break
    counted += await countDay(db, user, day, run)
  }
  return counted
}

/** With a short retention a day is removed before it is an older one: then every account is counted while it is in motion. */
function leastOf({ logDays, countedAhead = COUNTED_AHEAD }: CountRun): number {
  return logDays * DAY_MS < MOTION_MS + DAY_MS + 2 * PASS_MS ? 1 : countedAhead
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
