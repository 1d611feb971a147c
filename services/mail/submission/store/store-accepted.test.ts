import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../../test/support/database/fail-commands.ts'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { startTestMongod, type TestMongod } from '../../../../test/support/database/test-mongod.ts'
import { collectionOf, connectMongo, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { createMetrics } from '../../../platform/observability/metrics.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { BODIES, readBody } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import { EVENTS } from '../../store/events.ts'
import { findByIdempotencyKey, MESSAGES } from '../../store/messages.ts'
import { type NewMessage, toWrites } from './message-documents.ts'
import { createStaging } from './staged-body.ts'
import { createEnqueue, type EnqueueOptions } from './store-accepted.ts'

const at = new Date('2026-03-01T12:00:00Z')

function message(over: Partial<NewMessage> = {}): NewMessage {
  const id = newId('em')
  return {
    id,
    user_id: 'usr_1',
    domain_id: 'dom_1',
    via: { channel: 'smtp', id: 'crd_1' },
    mail_from: 'bounce@example.org',
    from: 'a@example.org',
    subject: 'hello',
    message_id: `<${id}@example.org>`,
    raw: Buffer.from('From: a@example.org\r\n\r\nhi\r\n'),
    recipients: [{ email: 'b@example.net', type: 'envelope' }],
    lane: 'transactional',
    ambiguous: 'retry',
    created_at: at,
    ...over,
  }
}

const idem = (key: string) => ({ key, hash: 'h', answer: '{}', until: new Date(at.getTime() + 86_400_000) })

function options(mongo: Mongo, over: Partial<EnqueueOptions> = {}): EnqueueOptions {
  return {
    mongo,
    log: silentLog,
    metrics: createMetrics('test'),
    slots: 64,
    relay: false,
    bodyDays: 7,
    logDays: 30,
    wake() {},
    ...over,
  }
}

const count = (mongo: Mongo, collection: string, filter: object = {}) =>
  mongo.db.collection(collection).countDocuments(filter)

describe('storing', () => {
  let mongo: Mongo
  beforeAll(async () => {
    mongo = await freshDatabase()
    await ensureIndexes(mongo.db, [MESSAGES, BODIES])
  })
  afterAll(() => mongo.stop())

  test('a stored message has its document, its deliveries and its bytes', async () => {
    const woken: number[][] = []
    const enqueue = createEnqueue(options(mongo, { wake: slots => woken.push([...slots]) }))
    const given = message({
      recipients: [
        { email: 'b@example.net', type: 'to', notify: ['NEVER'], orcpt: 'rfc822;b@example.net' },
        { email: 'ü@MÜNCHEN.example', type: 'bcc' },
      ],
    })
    expect(await enqueue(given)).toEqual({ kind: 'stored' })
    const stored = await collectionOf(mongo.db, MESSAGES).findOne({ _id: given.id })
    expect(stored).toMatchObject({
      parts: 1,
      size: given.raw.length,
      left: 2,
      rcpts: [
        { email: 'b@example.net', status: 'queued', notify: ['NEVER'], orcpt: 'rfc822;b@example.net' },
        { email: 'ü@MÜNCHEN.example', status: 'queued', type: 'bcc' },
      ],
      expires_at: new Date('2026-03-04T12:00:00Z'),
      exp: new Date('2026-04-03T12:00:00Z'),
    })
    const deliveries = await mongo.db.collection<{ _id: string; slot: number }>('deliveries').find({ m: given.id })
    const found = await deliveries.sort({ _id: 1 }).toArray()
    expect(found).toMatchObject([
      { _id: `${given.id}.0`, rcpt: 'b@example.net', site: 'example.net', due: at, att: 0, lane: 'transactional' },
      { _id: `${given.id}.1`, rcpt: 'ü@MÜNCHEN.example', site: 'xn--mnchen-3ya.example' },
    ])
    expect(woken).toEqual([[...new Set(found.map(({ slot }) => slot))]])
    expect(await readBody(mongo, given.id, 1)).toEqual(given.raw)
  })

  test.each([
    { bytes: 16 * 1024 - 1, parts: 1 },
    { bytes: 16 * 1024, parts: 1 },
    { bytes: 1024 * 1024, parts: 1 },
    { bytes: 1024 * 1024 + 1, parts: 2 },
    { bytes: 3_500_000, parts: 4 },
    { bytes: 4 * 1024 * 1024 + 1, parts: 5 },
    { bytes: 26_214_400, parts: 25 },
  ])('$bytes bytes lie in $parts parts', async ({ bytes, parts }) => {
    const given = message({ raw: randomBytes(bytes) })
    expect(await createEnqueue(options(mongo))(given)).toEqual({ kind: 'stored' })
    expect(await collectionOf(mongo.db, MESSAGES).findOne({ _id: given.id })).toMatchObject({ parts })
    expect((await readBody(mongo, given.id, parts))?.equals(given.raw)).toBe(true)
    await collectionOf(mongo.db, BODIES).deleteOne({ _id: `${given.id}#${parts - 1}` })
    expect(await readBody(mongo, given.id, parts)).toBeUndefined()
  })

  test('a message with a missing staged part is not accepted, and a complete one is, in the same batch', async () => {
    const stage = createStaging({ mongo, clock: { now: () => new Date() }, bodyDays: 7 })
    const enqueue = createEnqueue(options(mongo))
    const staged = async () => {
      const given = message()
      const body = stage(given.id)
      for (let n = 0; n < 3; n++) await body.write(randomBytes(1_000))
      return { ...given, rest: { size: body.size, parts: body.parts } }
    }
    const [broken, complete] = [await staged(), await staged()]
    await collectionOf(mongo.db, BODIES).deleteOne({ _id: `${broken.id}#2` }) // as a worker of release 0.1.0 does
    const results = await Promise.all([enqueue(broken), enqueue(complete), enqueue(message())])
    expect(results.map(({ kind }) => kind)).toEqual(['unavailable', 'stored', 'stored'])
    expect(await count(mongo, 'messages', { _id: broken.id })).toBe(0)
    expect(await count(mongo, 'deliveries', { m: broken.id })).toBe(0)
    expect(await readBody(mongo, complete.id, 4)).toHaveLength(complete.raw.length + 3_000)
  })

  test('callers at the same moment share a few writes', async () => {
    const metrics = createMetrics('test')
    const enqueue = createEnqueue(options(mongo, { metrics }))
    const results = await Promise.all(Array.from({ length: 300 }, () => enqueue(message())))
    expect(results.every(({ kind }) => kind === 'stored')).toBe(true)
    const { values } = await metrics.mongoSeconds.get()
    const rounds = values.find(v => v.metricName?.endsWith('_count') && v.labels.collection === 'messages')
    expect(rounds?.value).toBeLessThan(10)
  })

  test('a scheduled message waits for its time and lives from then on', async () => {
    const woken: number[][] = []
    const later = new Date(Date.now() + 3_600_000)
    const given = message({ scheduled_at: later })
    await createEnqueue(options(mongo, { wake: slots => woken.push([...slots]) }))(given)
    expect(await mongo.db.collection('deliveries').findOne({ m: given.id })).toMatchObject({ due: later })
    expect(await collectionOf(mongo.db, MESSAGES).findOne({ _id: given.id })).toMatchObject({
      rcpts: [{ status: 'scheduled' }],
      expires_at: new Date(later.getTime() + 72 * 3_600_000),
    })
    expect(woken).toEqual([])
  })

  test('a test message is final immediately, has simulated events and no deliveries', async () => {
    const given = message({ test: true })
    await createEnqueue(options(mongo))(given)
    expect(await count(mongo, 'deliveries', { m: given.id })).toBe(0)
    expect(await mongo.db.collection('events').find({ m: given.id }).toArray()).toMatchObject([
      { type: 'delivered', attempt: 1, rcpt: 'b@example.net', text: expect.stringContaining('simulated') },
    ])
    expect(await collectionOf(mongo.db, MESSAGES).findOne({ _id: given.id })).toMatchObject({
      left: 0,
      final_at: at,
      test: true,
      rcpts: [{ status: 'delivered' }],
    })
  })

  test('of 20 equal idempotency keys in one batch exactly one is stored, and nothing is left of the others', async () => {
    const enqueue = createEnqueue(options(mongo))
    const given = Array.from({ length: 20 }, () => message({ user_id: 'usr_idem', idem: idem('smtp:k1') }))
    const others = Array.from({ length: 5 }, () => message({ user_id: 'usr_idem' }))
    const results = await Promise.all([...given, ...others].map(enqueue))
    expect(results.filter(({ kind }) => kind === 'stored')).toHaveLength(6)
    expect(results.filter(({ kind }) => kind === 'key_taken')).toHaveLength(19)
    expect(await count(mongo, 'messages', { user_id: 'usr_idem' })).toBe(6)
    expect(await count(mongo, 'deliveries', { user_id: 'usr_idem' })).toBe(6)
    expect(await count(mongo, 'bodies', { m: { $in: given.map(({ id }) => id) } })).toBe(1)
  })

  test('equal keys of two accounts, and of two processes', async () => {
    const one = createEnqueue(options(mongo))
    const two = createEnqueue(options(mongo))
    const results = await Promise.all([
      one(message({ user_id: 'usr_a', idem: idem('k') })),
      two(message({ user_id: 'usr_a', idem: idem('k') })),
      one(message({ user_id: 'usr_b', idem: idem('k') })),
    ])
    expect(results.map(({ kind }) => kind).sort()).toEqual(['key_taken', 'stored', 'stored'])
    expect(results[2]).toEqual({ kind: 'stored' })
  })

  test('a key is found while it lives, and free again afterwards', async () => {
    const enqueue = createEnqueue(options(mongo))
    const first = message({ user_id: 'usr_ttl', idem: idem('k') })
    await enqueue(first)
    const find = (ms: number) => findByIdempotencyKey(mongo, 'usr_ttl', 'k', new Date(at.getTime() + ms))
    expect(await find(86_399_999)).toMatchObject({ _id: first.id, idem: { hash: 'h' } })
    expect(await find(86_400_000)).toBeUndefined()
    expect(await enqueue(message({ user_id: 'usr_ttl', idem: idem('k') }))).toEqual({ kind: 'stored' })
  })

  test('a key that is taken leaves the large message that wanted it unaccepted', async () => {
    const enqueue = createEnqueue(options(mongo))
    await enqueue(message({ user_id: 'usr_large', idem: idem('k') }))
    const raw = randomBytes(5_000_000)
    const second = message({ user_id: 'usr_large', idem: idem('k'), raw })
    expect(await enqueue(second)).toEqual({ kind: 'key_taken' })
    expect(await count(mongo, 'messages', { user_id: 'usr_large' })).toBe(1)
    expect(await count(mongo, 'deliveries', { user_id: 'usr_large' })).toBe(1)
    expect(await count(mongo, 'bodies', { m: second.id })).toBe(0)
  })

  test('as many recipients as can be allowed, and many such messages in parallel', async () => {
    const enqueue = createEnqueue(options(mongo))
    const recipients = (many: number) =>
      Array.from({ length: many }, (_, n) => ({ email: `${'b'.repeat(200)}${n}@example.net`, type: 'to' as const }))
    const one = message({ user_id: 'usr_many', recipients: recipients(10_000) })
    const more = Array.from({ length: 20 }, () => message({ user_id: 'usr_many', recipients: recipients(500) }))
    const results = await Promise.all([one, ...more].map(enqueue))
    expect(results.every(({ kind }) => kind === 'stored')).toBe(true)
    expect(await count(mongo, 'deliveries', { user_id: 'usr_many' })).toBe(20_000)
  })

  test('what is too large for a command is the trouble of its message alone', async () => {
    const enqueue = createEnqueue(options(mongo))
    const recipients = (bytes: number) => [{ email: 'b@example.net', type: 'to' as const, orcpt: 'x'.repeat(bytes) }]
    const given = [
      message(),
      message({ recipients: recipients(17_000_000) }),
      message({ user_id: 'usr_l', idem: idem('k') }),
    ]
    const results = await Promise.all(given.map(enqueue))
    expect(results.map(({ kind }) => kind)).toEqual(['stored', 'unavailable', 'stored'])
    expect(await enqueue(message())).toEqual({ kind: 'stored' })
    // Together too large for one command, each alone not.
    const together = Array.from({ length: 3 }, () => message({ recipients: recipients(7_000_000) }))
    expect(new Set((await Promise.all(together.map(enqueue))).map(({ kind }) => kind))).toEqual(new Set(['stored']))
  })

  test('equal keys at two processes in parallel refuse no other message, and each key is stored once', async () => {
    const [one, two] = [createEnqueue(options(mongo)), createEnqueue(options(mongo))]
    const keyed = () => Array.from({ length: 60 }, (_, n) => message({ user_id: 'usr_two', idem: idem(`k${n}`) }))
    const plain = () => Array.from({ length: 20 }, () => message({ user_id: 'usr_calm' }))
    const [first, second, calm] = await Promise.all([
      Promise.all(keyed().map(one)),
      Promise.all(keyed().reverse().map(two)),
      Promise.all([...plain().map(one), ...plain().map(two)]),
    ])
    expect(new Set(calm.map(({ kind }) => kind))).toEqual(new Set(['stored']))
    const kinds = [...first, ...second].map(({ kind }) => kind)
    expect(kinds.filter(kind => kind === 'stored').length).toBe(await count(mongo, 'messages', { user_id: 'usr_two' }))
    expect(await count(mongo, 'deliveries', { user_id: 'usr_two' })).toBe(
      await count(mongo, 'messages', { user_id: 'usr_two' }),
    )
  })

  test('more waiting bytes than allowed are refused immediately; the others go through and make room', async () => {
    const enqueue = createEnqueue(options(mongo, { maxWaitingBytes: 250 }))
    const big = () => message({ raw: Buffer.alloc(100, 'x') })
    const results = await Promise.all([enqueue(big()), enqueue(big()), enqueue(big())])
    const full = { kind: 'unavailable', reason: sentence('detail.queue_full') }
    expect(results).toEqual([{ kind: 'stored' }, { kind: 'stored' }, full])
    expect(await enqueue(big())).toEqual({ kind: 'stored' })
  })
})

describe('a database that does not answer', () => {
  let mongod: TestMongod
  beforeAll(async () => {
    mongod = await startTestMongod({ enableTestCommands: '1' })
  })
  afterAll(() => mongod.stop())

  const connect = async (dbName: string) => {
    const mongo = await connectMongo(mongod.uri, silentLog, { dbName })
    onTestFinished(() => mongo.stop())
    await ensureIndexes(mongo.db, [MESSAGES, BODIES, DELIVERIES, EVENTS])
    return mongo
  }
  test('is never a yes: refused within the bounds, immediately while known to be away, and taken again later', async () => {
    const mongo = await connect('stopped')
    const enqueue = createEnqueue(options(mongo))
    const before = message()
    expect(await enqueue(before)).toEqual({ kind: 'stored' })

    process.kill(mongod.pid, 'SIGSTOP')
    const results = await Promise.all(Array.from({ length: 50 }, () => enqueue(message())))
    // The driver has not even noticed: the bound is ours.
    expect(mongo.isUp()).toBe(true)
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['unavailable']))
    expect(await enqueue(message())).toMatchObject({ kind: 'unavailable' })

    process.kill(mongod.pid, 'SIGCONT')
    await expect.poll(async () => (await enqueue(message())).kind, { timeout: 20_000 }).toBe('stored')
    expect(await count(mongo, 'messages', { _id: before.id })).toBe(1)
  })

  test.each([
    {
      name: 'the connection breaks at the first insert',
      times: 1,
      commands: ['insert'],
      error: { closeConnection: true },
    },
    {
      name: 'the connection breaks at the commit',
      times: 1,
      commands: ['commitTransaction'],
      error: { closeConnection: true },
    },
    {
      name: 'the connection breaks at three commits',
      times: 3,
      commands: ['commitTransaction'],
      error: { closeConnection: true },
    },
    {
      name: 'two transactions meet',
      times: 2,
      commands: ['insert'],
      error: { errorCode: 112, errorLabels: ['TransientTransactionError'] },
    },
    {
      name: 'the primary steps down at the commit',
      times: 1,
      commands: ['commitTransaction'],
      error: { errorCode: 189, errorLabels: ['RetryableWriteError'] },
    },
    {
      name: 'no majority confirmed the commit',
      times: 1,
      commands: ['commitTransaction'],
      error: { writeConcernError: { code: 91, errmsg: 'shutting down', errorLabels: ['RetryableWriteError'] } },
    },
  ])('a passing error is repeated, and everything is stored once: $name', async ({ times, commands, error }) => {
    const mongo = await connect('passing')
    const enqueue = createEnqueue(options(mongo))
    const given = [message(), message()]
    await failCommands(mongo.db, { failCommands: commands, ...error }, { times })
    expect(await Promise.all(given.map(enqueue))).toEqual([{ kind: 'stored' }, { kind: 'stored' }])
    for (const { id } of given) {
      expect(await count(mongo, 'messages', { _id: id })).toBe(1)
      expect(await count(mongo, 'deliveries', { m: id })).toBe(1)
      expect(await count(mongo, 'bodies', { m: id })).toBe(1)
    }
  })

  test('what was given up while it was written is not stored later', async () => {
    const mongo = await connect('late')
    const enqueue = createEnqueue(options(mongo))
    const given = message()
    await failCommands(mongo.db, { failCommands: ['insert'], blockConnection: true, blockTimeMS: 6_000 }, { times: 1 })
    expect(await enqueue(given)).toMatchObject({ kind: 'unavailable' })
    await expect.poll(async () => (await enqueue(message())).kind, { timeout: 20_000 }).toBe('stored')
    // The blocked insert has come back by now: the server does one thing at a time for a session.
    await expect
      .poll(async () => (await mongo.db.admin().serverStatus()).transactions.currentOpen, { timeout: 20_000 })
      .toBe(0)
    expect(await count(mongo, 'messages', { _id: given.id })).toBe(0)
    expect(await count(mongo, 'bodies', { m: given.id })).toBe(0)
  })

  test('a key that an unfinished transaction holds is the trouble of its message alone', async () => {
    const mongo = await connect('held')
    const enqueue = createEnqueue(options(mongo))
    // As a process leaves it that dies between its last insert and the commit.
    const session = mongo.connection.getClient().startSession()
    onTestFinished(() => session.endSession())
    session.startTransaction()
    const holder = { ...toWrites(message({ user_id: 'usr_held', idem: idem('k') }), options(mongo)).message }
    await collectionOf(mongo.db, MESSAGES).insertOne(holder, { session })
    const others = [message(), message({ user_id: 'usr_other', idem: idem('k') }), message()]
    const blocked = message({ user_id: 'usr_held', idem: idem('k') })
    const results = await Promise.all([...others, blocked].map(enqueue))
    expect(results.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored', 'unavailable'])
    expect(await enqueue(message())).toEqual({ kind: 'stored' })
    await session.abortTransaction()
    expect(await enqueue(blocked)).toEqual({ kind: 'stored' })
  })

  test('a commit whose answer does not come is read back', async () => {
    // The failures clear the connection pool of their client, so the test looks through another one.
    const [mongo, other] = [await connect('unknown'), await connect('unknown')]
    const enqueue = createEnqueue(options(mongo))
    const given = message()
    // The commit completes immediately; that a majority has it is reported too late.
    const majority = { failCommands: ['commitTransaction'], writeConcernError: { code: 91, errmsg: 'no' } }
    await failCommands(other.db, majority, { times: 1_000_000 })
    expect(await enqueue(given)).toEqual({ kind: 'stored' })
    expect(await count(other, 'messages', { _id: given.id })).toBe(1)
  })

  test('a commit that takes longer than the database is waited for: SMTP hears how it ended, HTTP asks again', async () => {
    const mongo = await connect('slow')
    const woken: number[] = []
    const enqueue = createEnqueue(options(mongo, { wake: slots => woken.push(...slots) }))
    const smtp = message({ via: { channel: 'smtp', id: 'crd_1' } })
    const http = message({ via: { channel: 'http', id: 'tok_1' } })
    await failCommands(
      mongo.db,
      { failCommands: ['commitTransaction'], blockConnection: true, blockTimeMS: 16_000 },
      { times: 1 },
    )
    const started = performance.now()
    const ended = Promise.all([
      enqueue(smtp),
      enqueue(http).finally(() => expect(performance.now() - started).toBeLessThan(15_900)),
    ])
    // Others are stored until then: only the messages in question wait.
    await expect.poll(async () => (await enqueue(message())).kind, { timeout: 15_000 }).toBe('stored')
    expect(performance.now() - started).toBeLessThan(15_500)
    const [first, second] = await ended
    expect([first.kind, second.kind]).toEqual(['stored', 'unavailable'])
    expect(await count(mongo, 'messages', { _id: { $in: [smtp.id, http.id] } })).toBe(2)
    expect(woken.length).toBeGreaterThanOrEqual(2)
  })

  test('a commit that failed for certain is refused without waiting for a minute', async () => {
    const mongo = await connect('refused')
    const enqueue = createEnqueue(options(mongo))
    const given = message()
    await failCommands(mongo.db, { failCommands: ['commitTransaction'], errorCode: 8000 }, { times: 1_000 })
    const started = performance.now()
    expect((await enqueue(given)).kind).toBe('unavailable')
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(await count(mongo, 'messages', { _id: given.id })).toBe(0)
  })
})
