/**
 * Stands in for mongos before replica sets, where there is no mongos: the mail in cells is divided between the sets, and
 * everything else lies on the first. A command goes to the shards of the cells that it names, and to all when it names none.
 *
 * It is stricter than mongos. A write of one document has to name its cell or its `_id`, as in MongoDB 6, and a
 * transaction has to stay on one shard: others are refused, and listed in `refused`. Collections are divided from the start;
 * there are no chunks that move. Of aggregations over several shards it knows those that end with groups and sums.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import mongoose from 'mongoose'
import { CELLED } from '../../../../services/mail/store/change-cells.ts'
import { OF_TEST } from '../profile.ts'
import { mergeAggregations, mergeFinds, mergeWrites, splitWrites, withSortKey } from './merge.ts'
import { ShardAway, ShardConnection } from './shard-connection.ts'
import { type Document, type Message, readMessages, toAnswer } from './wire.ts'

/** A command on mail, and the shards that it was sent to. */
export interface Routed {
  command: string
  collection: string
  shards: readonly number[]
  filters: readonly Document[]
}

/** The router. */
export interface ShardRouter {
  /** Connection string, without the name of a database. */
  uri: string
  /** Commands on mail, in their order. */
  routed: Routed[]
  /** What a cluster would have refused or should not be asked for. */
  refused: string[]
  stop(): Promise<void>
}

const SHARDED: ReadonlySet<unknown> = new Set(CELLED.map(({ definition }) => definition.name))
const HELLO = {
  ...{ ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', helloOk: true, ok: 1 },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
  ...{ logicalSessionTimeoutMinutes: 30, minWireVersion: 0, maxWireVersion: 17 },
}
/** The statements of a command that writes. */
const STATEMENTS: Readonly<Record<string, string>> = { insert: 'documents', update: 'updates', delete: 'deletes' }

/** An answer in place of a shard's. */
class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Starts the router. `shards`: connection strings of replica sets on 127.0.0.1; cell n lies on the set n modulo their number. */
export async function startShardRouter(shards: readonly string[]): Promise<ShardRouter> {
  const router = new Router(shards.map(uri => [...uri.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))))
  const server = createServer(socket => void router.serve(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    uri: `mongodb://127.0.0.1:${port}/?`,
    routed: router.routed,
    refused: router.refused,
    async stop() {
      const closed = new Promise(resolve => server.close(resolve))
      router.close()
      await closed
    },
  }
}

class Router {
  readonly routed: Routed[] = []
  readonly refused: string[] = []
  readonly #shards: readonly (readonly number[])[]
  readonly #clients = new Set<Socket>()
  /** Shards of open cursors and of transactions, by their id: a client continues both on any connection. */
  readonly #cursors = new Map<string, number>()
  readonly #transactions = new Map<string, number>()

  constructor(shards: readonly (readonly number[])[]) {
    this.#shards = shards
  }

  close(): void {
    for (const client of this.#clients) client.destroy()
  }

  async serve(socket: Socket): Promise<void> {
    this.#clients.add(socket)
    socket.on('error', () => undefined)
    const connections = this.#shards.map(members => new ShardConnection(members))
    try {
      for await (const message of readMessages(socket)) {
        const answer = await this.#answer(connections, message)
        if (!message.isUnanswered) socket.write(toAnswer(message, answer))
      }
    } catch {
      // The client is gone.
    } finally {
      this.#clients.delete(socket)
      for (const connection of connections) connection.close()
    }
  }

  async #answer(connections: readonly ShardConnection[], { document }: Message): Promise<Document> {
    const [name = ''] = Object.keys(document)
    if (name === 'hello' || name.toLowerCase() === 'ismaster') return { ...HELLO, localTime: new Date() }
    // Each set has a logical time of its own.
    const { $clusterTime, ...command } = document
    try {
      const answer = await this.#route(connections, name, command)
      const { $clusterTime: _, operationTime: __, ...rest } = answer
      return rest
    } catch (error) {
      if (error instanceof Refusal) return { ok: 0, code: error.code, errmsg: error.message }
      if (error instanceof ShardAway) return awayAnswer(error, command)
      this.refused.push(`${name}: ${error}`)
      throw error
    }
  }

  async #route(connections: readonly ShardConnection[], name: string, command: Document): Promise<Document> {
    const ask = (shard: number, given: Document = command) => {
      const connection = connections[shard]
      if (!connection) throw new Error(`no shard ${shard}`)
      return connection.ask(given)
    }
    const all = connections.map((_, shard) => shard)
    if (name === 'commitTransaction' || name === 'abortTransaction')
      return ask(this.#transactions.get(transactionOf(command) ?? '') ?? 0)
    if (name === 'getMore') return ask(this.#cursors.get(String(command.getMore)) ?? 0)
    if (name === 'killCursors') {
      const [first] = command.cursors as unknown[]
      return ask(this.#cursors.get(String(first)) ?? 0)
    }
    if (name === 'dropDatabase' || name === 'endSessions') return firstOf(await Promise.all(all.map(s => ask(s))))
    const collection = command[name]
    if (!SHARDED.has(collection)) return this.#keepCursor(0, await ask(this.#inTransaction(command, [0])))
    if (['create', 'createIndexes', 'dropIndexes', 'drop', 'collMod'].includes(name)) {
      const answers = await Promise.all(all.map(s => ask(s)))
      return answers.find(({ ok }) => Number(ok) !== 1) ?? firstOf(answers)
    }
    if (name === 'listIndexes') return this.#keepCursor(0, await ask(0))
    return this.#routeMail(all, ask, name, command)
  }

  async #routeMail(
    all: readonly number[],
    ask: (shard: number, given?: Document) => Promise<Document>,
    name: string,
    command: Document,
  ): Promise<Document> {
    const note = (shards: readonly number[], filters: readonly Document[]) => {
      if (command.comment === OF_TEST.comment) return
      this.routed.push({ command: name, collection: String(command[name]), shards, filters })
    }
    const field = STATEMENTS[name]
    if (field) {
      const statements = command[field] as Document[]
      const targets = statements.map(one => this.#targetsOfWrite(name, one, all))
      note(Array.from(new Set(targets.flat())), name === 'insert' ? [] : statements.map(({ q }) => q as Document))
      const parts = splitWrites(command, field, targets)
      if (parts.length === 1) return ask(this.#inTransaction(command, [parts[0]?.shard ?? 0]), parts[0]?.command)
      this.#inTransaction(command, targets.flat())
      const answers: Document[] = []
      for (const { shard, command: part } of parts) answers.push(await ask(shard, part))
      return mergeWrites(parts, answers)
    }
    const filter = filterOf(name, command)
    const shards = this.#shardsOf(filter, all)
    note(shards, [filter])
    if (name === 'findAndModify' && shards.length > 1) throw this.#refuse(61, `findAndModify without a cell`)
    this.#inTransaction(command, shards)
    const [only, ...others] = shards
    if (only !== undefined && others.length === 0) return this.#keepCursor(only, await ask(only))
    if (name === 'find') {
      const found = await Promise.all(shards.map(shard => drain(given => ask(shard, given), withSortKey(command))))
      return mergeFinds(command, found)
    }
    const answers = await Promise.all(shards.map(shard => ask(shard)))
    const failed = answers.find(({ ok }) => Number(ok) !== 1)
    if (failed) return failed
    const merged = mergeAggregations(name, command, answers)
    if (!merged) throw this.#refuse(115, `${name} over several shards: ${JSON.stringify(command)}`)
    return merged
  }

  #targetsOfWrite(name: string, statement: Document, all: readonly number[]): readonly number[] {
    if (name === 'insert') return [this.#shardOf(statement.cell)]
    const shards = this.#shardsOf(statement.q as Document, all)
    const isMany = name === 'update' ? statement.multi === true : Number(statement.limit) === 0
    if (shards.length === 1 || isMany) return shards
    if (statement.upsert === true || !isPlain((statement.q as Document)._id))
      throw this.#refuse(61, `${name} of one document without its cell or _id: ${JSON.stringify(statement.q)}`)
    return shards
  }

  #shardsOf(filter: Document, all: readonly number[]): readonly number[] {
    const cells = cellsOfFilter(filter)
    return cells ? Array.from(new Set(cells.map(cell => this.#shardOf(cell)))).toSorted((a, b) => a - b) : all
  }

  /** Documents without a cell lie with those of cell 0. */
  #shardOf(cell: unknown): number {
    return Number(cell ?? 0) % this.#shards.length
  }

  /** The only shard of a command in a transaction; that of the first one outside of a transaction. */
  #inTransaction(command: Document, shards: readonly number[]): number {
    const [shard = 0] = shards
    const id = transactionOf(command)
    if (id === undefined) return shard
    const known = command.startTransaction === true ? undefined : this.#transactions.get(id)
    if (known === undefined) {
      if (command.startTransaction !== true) throw new Refusal(251, 'NoSuchTransaction')
      this.#transactions.set(id, shard)
    }
    if (shards.some(one => one !== (known ?? shard)))
      throw this.#refuse(263, `a transaction of several shards: ${JSON.stringify(Object.entries(command)[0])}`)
    return shard
  }

  #keepCursor(shard: number, answer: Document): Document {
    const cursor = answer.cursor as Document | undefined
    if (cursor && String(cursor.id) !== '0') this.#cursors.set(String(cursor.id), shard)
    return answer
  }

  #refuse(code: number, message: string): Refusal {
    this.refused.push(message)
    return new Refusal(code, message)
  }
}

/** Reads a question to its end at one shard. */
async function drain(ask: (given: Document) => Promise<Document>, command: Document): Promise<Document> {
  const answer = await ask(command)
  const documents: Document[] = []
  for (let next = answer; ; ) {
    if (Number(next.ok) !== 1) return next
    const { firstBatch, nextBatch, id } = next.cursor as {
      firstBatch?: Document[]
      nextBatch?: Document[]
      id: unknown
    }
    documents.push(...(firstBatch ?? nextBatch ?? []))
    if (String(id) === '0') break
    next = await ask({ getMore: id, collection: command.find, $db: command.$db, ...sessionOf(command) })
  }
  return { ...answer, cursor: { ...(answer.cursor as Document), firstBatch: documents, id: ZERO } }
}

const ZERO = mongoose.mongo.Long.fromNumber(0)
const sessionOf = ({ lsid }: Document) => (lsid === undefined ? {} : { lsid })
const firstOf = ([answer]: readonly Document[]): Document => answer ?? { ok: 1 }

/** As mongos names a shard without a primary (133), and a connection that broke (6), with the labels for drivers. */
function awayAnswer({ isSent, message }: ShardAway, command: Document): Document {
  const labels = [
    ...(command.autocommit === false && !('commitTransaction' in command) ? ['TransientTransactionError'] : []),
    ...(command.txnNumber !== undefined ? ['RetryableWriteError'] : []),
  ]
  const code = isSent
    ? { code: 6, codeName: 'HostUnreachable' }
    : { code: 133, codeName: 'FailedToSatisfyReadPreference' }
  return { ok: 0, ...code, errmsg: message, errorLabels: labels }
}

function transactionOf({ lsid, txnNumber, autocommit }: Document): string | undefined {
  if (autocommit !== false) return undefined
  const { id } = lsid as { id: InstanceType<typeof mongoose.mongo.Binary> }
  return `${id.toString('hex')} ${txnNumber}`
}

function filterOf(name: string, command: Document): Document {
  if (name !== 'aggregate') return (command.filter ?? command.query ?? {}) as Document
  const [first] = command.pipeline as { $match?: Document }[]
  return first?.$match ?? {}
}

/** The cells that a filter names, by equality or as a list; undefined: none. */
function cellsOfFilter(filter: Document): readonly unknown[] | undefined {
  const { cell, $and } = filter
  if (Array.isArray($and)) {
    const named = $and.map(cellsOfFilter).find(cells => cells !== undefined)
    if (named) return named
  }
  if (cell === undefined) return undefined
  if (isPlain(cell)) return [cell]
  const { $in } = cell as { $in?: unknown[] }
  return $in
}

/** A value that is compared by equality. */
function isPlain(value: unknown): boolean {
  if (value === undefined) return false
  if (typeof value !== 'object' || value === null) return true
  return !Object.keys(value).some(key => key.startsWith('$'))
}
