/**
 * The database connection and how collections are declared. Mongoose holds the connection. Hot collections are read and
 * written through the driver, because zod has validated their documents; the others have models (`models.ts`, ADR 3).
 */
import mongoose from 'mongoose'
import { TimeoutError } from '../concurrency/timeout.ts'
import type { Log } from '../observability/log.ts'

type Connection = mongoose.Connection
/** The driver's database handle. */
export type Db = NonNullable<Connection['db']>
/** A typed collection of the driver. */
export type Collection<T extends object> = ReturnType<typeof collectionOf<T>>
/** A driver session, for the few transactions there are. */
export type Session = mongoose.ClientSession

/** One index: fields in order, and its options. The name is derived by MongoDB. */
export interface IndexDefinition {
  key: Record<string, 1 | -1>
  unique?: true
  sparse?: true
  /** Seconds after the date in the indexed field; 0 = at that date. */
  expireAfterSeconds?: number
  partialFilterExpression?: Record<string, unknown>
  /** Not created where there is an index with this key, which has taken its place. */
  unless?: Record<string, 1 | -1>
}

/** A collection with its indexes. `T` is the stored document with its `_id`. */
export interface CollectionDefinition<T extends object> {
  name: string
  indexes: readonly IndexDefinition[]
  /** Only for the type parameter. */
  readonly document?: T
}

/** Declares a collection. */
export function defineCollection<T extends object>(
  name: string,
  indexes: readonly IndexDefinition[] = [],
): CollectionDefinition<T> {
  return { name, indexes }
}

/** The open database. */
export interface Mongo {
  db: Db
  connection: Connection
  /** True while the server answers; follows the driver's heartbeat. */
  isUp(): boolean
  /**
   * Runs `work` in a transaction, again on transient errors (driver specification "Convenient API for Transactions").
   * `maxCommitTimeMS`: how long one commit may take; then it is not repeated.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options?: { maxCommitTimeMS: number }): Promise<T>
  stop(): Promise<void>
}

/** Write concern of every write that is confirmed to a client. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const

/** Times that keep callers from waiting longer than their own clients do, in milliseconds. */
const TIMES = {
  serverSelectionTimeoutMS: 5_000,
  waitQueueTimeoutMS: 5_000,
  socketTimeoutMS: 60_000,
  connectTimeoutMS: 5_000,
}

/**
 * Connects. Rejects when no primary answers in 5 s, or when the server is no replica set: acknowledged writes of a
 * standalone mongod can be lost when it is killed (SERVER-139311).
 */
export async function connectMongo(
  uri: string,
  log: Log,
  options: { maxPoolSize?: number; dbName?: string } = {},
): Promise<Mongo> {
  const connection = mongoose.createConnection(uri, {
    ...TIMES,
    maxPoolSize: options.maxPoolSize ?? 50,
    dbName: options.dbName ?? databaseOf(uri),
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    retryWrites: true,
    ignoreUndefined: true,
    writeConcern: { w: 'majority', journal: true },
  })
  const db = await openSet(connection).catch(async (error: unknown) => {
    // A start that waits for its database tries again and again: what a try opened must not pile up.
    await connection.close().catch(() => undefined)
    throw error
  })
  let up = true
  let stopping = false
  connection.on('disconnected', () => {
    up = false
    if (!stopping) log.warn({}, 'database connection lost')
  })
  connection.on('connected', () => {
    up = true
  })
  return {
    db,
    connection,
    isUp: () => up,
    transaction: (work, options) =>
      connection
        .getClient()
        .withSession(session =>
          session.withTransaction(() => work(session), { ...options, writeConcern: { w: 'majority', j: true } }),
        ),
    stop() {
      stopping = true
      return connection.close()
    },
  }
}

/** Connects and checks what answers. */
async function openSet(connection: Connection): Promise<Db> {
  const { db } = await connection.asPromise()
  if (!db) throw new Error('the database connection has no database')
  const hello = await db.admin().command({ hello: 1 })
  if (!hello.setName && hello.msg !== 'isdbgrid')
    throw new Error(
      'MONGODB_URI leads to a standalone mongod; Postwright needs a replica set (one member is enough to try it): start mongod with --replSet and run rs.initiate()',
    )
  return db
}

/** The collection of a definition in this database. */
export function collectionOf<T extends object>(db: Db, definition: CollectionDefinition<T>) {
  return db.collection<T>(definition.name)
}

/**
 * Inserts documents within a transaction, in one command, which bounds them to 16 MiB together. The driver's `insertMany`
 * measures each document first, which costs half as much again, to split what is larger. Rejects with the first error of
 * the server, for example a duplicate key.
 */
export async function insertAll(
  db: Db,
  { name }: CollectionDefinition<object>,
  documents: readonly object[],
  session: Session,
): Promise<void> {
  if (documents.length === 0) return
  const { writeErrors } = await db.command({ insert: name, documents }, { session, ignoreUndefined: true })
  if (writeErrors) throw new mongoose.mongo.MongoServerError({ ...writeErrors[0], message: writeErrors[0].errmsg })
}

/** Creates missing indexes (and so the collections). Safe to run from many processes at once. */
export async function ensureIndexes(db: Db, definitions: readonly CollectionDefinition<object>[]): Promise<void> {
  for (const { name, indexes } of definitions) {
    await db.createCollection(name).catch((error: unknown) => {
      if (!isMongoCode(error, 48)) throw error // 48 NamespaceExists
    })
    const wanted = await withoutReplaced(db, name, indexes)
    if (wanted.length > 0) await db.collection(name).createIndexes(wanted.map(({ unless, ...index }) => index))
  }
}

async function withoutReplaced(
  db: Db,
  name: string,
  indexes: readonly IndexDefinition[],
): Promise<readonly IndexDefinition[]> {
  if (!indexes.some(({ unless }) => unless)) return indexes
  const there = new Set((await db.collection(name).indexes()).map(({ key }) => JSON.stringify(key)))
  return indexes.filter(({ unless }) => !unless || !there.has(JSON.stringify(unless)))
}

/** True for the duplicate-key error (code 11000) of a single or a bulk write. */
export function isDuplicateKey(error: unknown): boolean {
  return isMongoCode(error, 11_000)
}

/**
 * Errors of a member that is not primary any more, or shuts down ("state change errors" of the driver specification); then
 * those by which mongos says that a shard does not answer, or has no primary (133).
 */
const AWAY_CODES: ReadonlySet<unknown> = new Set([
  ...[91, 189, 10_107, 11_600, 11_602, 13_435, 13_436],
  ...[6, 7, 89, 9_001, 133],
])
const AWAY =
  /^(Mongo(ServerSelection|Network|NetworkTimeout|OperationTimeout|WaitQueueTimeout|NotConnected|PoolCleared|TopologyClosed)|Mongoose.*ServerSelection)/

/**
 * True for errors that say "not now": no primary, no connection, no answer in time (the driver's or our own bound), pool
 * exhausted.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof TimeoutError || AWAY.test(error.name)) return true
  return 'code' in error && AWAY_CODES.has(error.code)
}

/**
 * True for MaxTimeMSExpired: a question took longer than it may, or the server stopped waiting for a majority, or never
 * began.
 */
export function isMaxTimeExpired(error: unknown): boolean {
  return isMongoCode(error, 50)
}

/** True for the failure of a transaction that may have been committed all the same. */
export function isCommitUnknown(error: unknown): boolean {
  const isLabelled = error instanceof mongoose.mongo.MongoError && error.hasErrorLabel('UnknownTransactionCommitResult')
  return isLabelled || isMaxTimeExpired(error)
}

/** True for an error of the server with this code. */
export function isMongoCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}

function databaseOf(uri: string): string {
  return /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(uri)?.[1] ?? 'postwright'
}
