/**
 * Counters of a rate limit in MongoDB whose windows follow the database's clock, whatever the clocks of processes are.
 */
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible'
import { type Collection, type CollectionDefinition, collectionOf, type Db, isDuplicateKey } from './mongo.ts'

/** Counter of one key. `points` may be negative: what was taken back. */
export interface CounterDoc {
  key: string
  points: number
  expire: Date
}

/** A limit: `points` in `seconds`, of keys that begin with `prefix`. */
export interface CounterOptions {
  prefix: string
  points: number
  seconds: number
}

/** What one key has consumed, and the milliseconds until its window ends. */
interface Counted {
  points: number
  left: number
}

/**
 * A limiter on this collection. Keys over their limit are refused from memory, and while the database is away each
 * process counts for itself. Counts need no journal: one that a crash loses lets a few attempts more through.
 */
export function createRateLimiter(
  db: Db,
  counters: CollectionDefinition<CounterDoc>,
  { prefix, points, seconds }: CounterOptions,
): RateLimiterMongo {
  const store = db.client.db(db.databaseName, { writeConcern: { w: 1, journal: false } })
  const limit = { points, duration: seconds, keyPrefix: prefix }
  return new DatabaseTimeLimiter(collectionOf(store, counters), {
    ...limit,
    storeClient: store,
    tableName: counters.name,
    disableIndexesCreation: true, // ensureIndexes makes them
    inMemoryBlockOnConsumed: points + 1,
    insuranceLimiter: new RateLimiterMemory(limit),
  })
}

/** The library's limiter with its store on `$$NOW`: the methods with an underscore are those that a store implements. */
class DatabaseTimeLimiter extends RateLimiterMongo {
  readonly #counters: Collection<CounterDoc>

  constructor(counters: Collection<CounterDoc>, options: ConstructorParameters<typeof RateLimiterMongo>[0]) {
    super(options)
    this.#counters = counters
  }

  async _upsert(key: string, points: number, ms: number): Promise<Counted | null> {
    const running = { $gt: ['$expire', '$$NOW'] }
    const next = {
      points: { $cond: [running, { $add: ['$points', points] }, points] },
      expire: { $cond: [running, '$expire', { $add: ['$$NOW', ms] }] },
    }
    const count = () =>
      this.#counters.findOneAndUpdate({ key }, [{ $set: next }], {
        upsert: true,
        returnDocument: 'after',
        projection: COUNTED,
      })
    const counted = await count().catch((error: unknown) => {
      if (isDuplicateKey(error)) return count() // another process made the counter in this moment
      throw error
    })
    return counted as Counted | null
  }

  async _get(key: string): Promise<Counted | null> {
    const running = { $expr: { $gt: ['$expire', '$$NOW'] } }
    return (await this.#counters.findOne({ key, ...running }, { projection: COUNTED })) as Counted | null
  }

  _getRateLimiterRes(_: string, changed: number, { points, left }: Counted): RateLimiterRes {
    const remaining = Math.max(this.points - points, 0)
    return new RateLimiterRes(remaining, Math.max(left, 0), points, points === changed)
  }
}

const COUNTED = { points: 1, left: { $subtract: ['$expire', '$$NOW'] } }
