/**
 * Brings the stored data to this version's shape at the start: one process at a time, each step safe to repeat, and
 * only expanding (add, fill, never rename or drop what the release before reads), so that one release back still runs.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../observability/log.ts'
import { readDatabaseTime } from './database-clock.ts'
import { type Collection, type Db, isDuplicateKey } from './mongo.ts'

/** One step. `up` may be run again after a crash in its middle. */
export interface Migration {
  /** Version of the data after this step; steps are numbered 1, 2, 3 … */
  schema: number
  /** Oldest version of the code that can read the data after this step. */
  minReader: number
  up(db: Db): Promise<void>
}

/** The stored schema version. */
interface SchemaDoc {
  _id: 'schema'
  schema: number
  minReader: number
}

interface LockDoc {
  _id: 'lock'
  /** Holder of the lock: a holder that hung past its expiry must not renew or release the lock of the next. */
  by?: string
  until: Date
}

/** A lock that was not renewed for this time is expired. */
const LOCK_MS = 60_000
const RETRY_MS = 200

/**
 * Runs the missing steps. `version` is the schema that this code writes. Rejects when the data is too new for this
 * code; waits while another process migrates.
 */
export async function migrate(
  db: Db,
  migrations: readonly Migration[],
  log: Log,
  version = migrations.length,
): Promise<void> {
  const locks = db.collection<LockDoc>('meta')
  const me = randomBytes(8).toString('hex')
  for (;;) {
    const current = await readSchema(db)
    if (current.minReader > version) {
      throw new Error(
        `the database was written by a newer Postwright (its data needs a reader of schema ${current.minReader}, this is ${version}); run that version or a newer one`,
      )
    }
    const next = migrations.find(({ schema }) => schema === current.schema + 1)
    if (!next) return
    if (await lock(db, locks, me))
      await step(db, locks, me, next, log).finally(() => locks.deleteOne({ _id: 'lock', by: me }))
    else await sleep(RETRY_MS)
  }
}

async function readSchema(db: Db): Promise<SchemaDoc> {
  const found = await db
    .collection<SchemaDoc>('meta')
    .findOne({ _id: 'schema' }, { readConcern: { level: 'majority' } })
  return found ?? { _id: 'schema', schema: 0, minReader: 0 }
}

async function step(db: Db, locks: Collection<LockDoc>, me: string, migration: Migration, log: Log): Promise<void> {
  // Another process may have finished it between our read and our lock.
  if ((await readSchema(db)).schema >= migration.schema) return
  const started = performance.now()
  const renewal = setInterval(() => void renew(locks, me).catch(() => undefined), LOCK_MS / 4)
  try {
    await migration.up(db)
  } finally {
    clearInterval(renewal)
  }
  const { schema, minReader } = migration
  const states = db.collection<SchemaDoc>('meta')
  try {
    // Never decreases: a process that hung in this step may find that others are further.
    const olderState = { _id: 'schema' as const, schema: { $lt: schema } }
    await states.updateOne(olderState, { $set: { schema, minReader } }, { upsert: true })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  log.info({ schema, ms: Math.round(performance.now() - started) }, 'migrated the database')
}

async function lock(db: Db, locks: Collection<LockDoc>, me: string): Promise<boolean> {
  const now = (await readDatabaseTime(db)).getTime()
  const free = { _id: 'lock' as const, until: { $lt: new Date(now) } }
  try {
    await locks.updateOne(free, { $set: { by: me, until: new Date(now + LOCK_MS) } }, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false // the lock is held
    throw error
  }
}

async function renew(locks: Collection<LockDoc>, me: string): Promise<void> {
  await locks.updateOne({ _id: 'lock', by: me }, [{ $set: { until: { $add: ['$$NOW', LOCK_MS] } } }])
}
