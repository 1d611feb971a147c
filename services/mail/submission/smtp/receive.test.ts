import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createMemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { HEAD_BYTES, type PartSink, type ReceiveLimits, receiveMessage } from './receive.ts'

const MIB = 1024 * 1024
const limits = (over: Partial<ReceiveLimits> = {}): ReceiveLimits => ({
  maxBytes: 10,
  bytesPerSecond: 1,
  windowMs: 60_000,
  budget: createMemoryBudget(100 * MIB),
  account: 'usr_1',
  ...over,
})

/** Remembers its parts; `before` runs ahead of each write. */
function sink(before: () => Promise<void> = async () => undefined) {
  const parts: Buffer[] = []
  const self = {
    parts,
    discarded: 0,
    heads: [] as number[],
    async write(part: Buffer) {
      await before()
      parts.push(Buffer.from(part))
    },
    async discard() {
      self.discarded++
    },
    open: (head: Buffer): PartSink => {
      self.heads.push(head.length)
      return self
    },
  }
  return self
}
const none = () => {
  throw new Error('the message is small')
}

/** Feeds chunks and ends, one turn apart, as fast as they are taken. */
async function feed(stream: PassThrough, chunks: Iterable<string | Buffer>): Promise<void> {
  for (const chunk of chunks) {
    if (!stream.write(chunk)) await new Promise(resolve => stream.once('drain', resolve))
    await new Promise(resolve => setImmediate(resolve))
  }
  stream.end()
}

/** How many bytes an account can still take: its maximum when no other account has any. */
function isFree(budget: ReceiveLimits['budget'], bytes: number): boolean {
  const taken = budget.take('usr_1', bytes / 2)
  if (taken) budget.give('usr_1', bytes / 2)
  return taken
}

/** Frees what is no longer referenced: without it the memory of a process depends on when the engine collects. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

describe('receiving', () => {
  test('a message up to the limit is received completely, and its memory counts until it is released', async () => {
    const budget = createMemoryBudget(MIB)
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget }), none)
    await feed(stream, ['12345', '67890'])
    const result = await received
    expect(result).toMatchObject({ kind: 'complete', raw: Buffer.from('1234567890') })
    expect(isFree(budget, MIB)).toBe(false)
    if (result.kind === 'complete') result.release()
    expect(isFree(budget, MIB)).toBe(true)
  })

  test.each([
    ['larger than allowed', limits(), 'message_too_large'],
    [
      'more than fits into memory',
      limits({ budget: createMemoryBudget(10_000), maxBytes: 100_000 }),
      'queue_unavailable',
    ],
  ])('%s: read to the end, kept nowhere', async (_, given, code) => {
    const stream = new PassThrough()
    const received = receiveMessage(stream, given, none)
    await feed(stream, ['12345', '67890', '1'])
    expect(await received).toEqual({ kind: 'refused', code })
    expect(isFree(given.budget, 10_000)).toBe(true)
  })

  test('a flood is cut at twice the limit', async () => {
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits(), none)
    stream.write('x'.repeat(21))
    expect(await received).toEqual({ kind: 'cut', code: 'message_too_large' })
  })

  test('a sender that disconnects leaves no counted memory', async () => {
    const budget = createMemoryBudget(MIB)
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget }), none)
    stream.write('12345')
    await vi.waitFor(() => expect(isFree(budget, MIB)).toBe(false), { timeout: 10_000 })
    stream.destroy(new Error('reset'))
    expect(await received).toEqual({ kind: 'gone' })
    expect(isFree(budget, MIB)).toBe(true)
  })

  test('what is counted is what is held: chunks of a few octets are copied, not kept', async () => {
    const budget = createMemoryBudget(2 * MIB)
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget, maxBytes: MIB }), none)
    const before = process.memoryUsage().arrayBuffers
    // Each chunk is three octets of a buffer of 64 KiB, as the dots of a stuffed message come.
    for (let n = 0; n < 3_000; n++) {
      stream.write(Buffer.alloc(65_536, 'x').subarray(0, 3))
      // A stream joins chunks that wait in it, so each is read before the next is written.
      await new Promise(resolve => setImmediate(resolve))
    }
    await new Promise(resolve => setImmediate(resolve))
    collectGarbage()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MIB) // of 187 MiB that were made
    stream.end()
    expect(await received).toMatchObject({ kind: 'complete', raw: Buffer.alloc(9_000, 'x') })
  })
})

describe('the rate of a sender', () => {
  test('one that trickles is cut after a window; a steady one is not', async () => {
    const [slow, steady] = [new PassThrough(), new PassThrough()]
    const given = limits({ windowMs: 30, bytesPerSecond: 100, maxBytes: MIB })
    const cut = receiveMessage(slow, given, none)
    const complete = receiveMessage(steady, given, none)
    slow.write('x')
    const feeding = setInterval(() => steady.write('x'.repeat(1000)), 1)
    expect(await cut).toEqual({ kind: 'cut', code: 'too_slow' })
    clearInterval(feeding)
    steady.end()
    expect(await complete).toMatchObject({ kind: 'complete' })
  })

  test('one that was fast and stalls is cut a window later, and frees its memory', async () => {
    const budget = createMemoryBudget(MIB)
    const stream = new PassThrough()
    const given = limits({ budget, windowMs: 60, bytesPerSecond: 100, maxBytes: MIB })
    const received = receiveMessage(stream, given, none)
    stream.write('x'.repeat(100_000)) // on average enough for a quarter of an hour
    expect(await received).toEqual({ kind: 'cut', code: 'too_slow' })
    expect(isFree(budget, MIB)).toBe(true)
  })

  test('time that storage takes is not the time of the sender', async () => {
    const stored = Promise.withResolvers<void>()
    const waiting = Promise.withResolvers<void>()
    const to = sink(() => {
      waiting.resolve()
      return stored.promise
    })
    const stream = new PassThrough()
    const given = limits({ windowMs: 300, bytesPerSecond: 100, maxBytes: 4 * MIB })
    const received = receiveMessage(stream, given, to.open)
    const fed = feed(stream, Array(30).fill(Buffer.alloc(65_536, 'x')))
    await waiting.promise
    await new Promise(resolve => setTimeout(resolve, 1_000))
    stored.resolve()
    await fed
    expect(await received).toMatchObject({ kind: 'complete' })
  })
})

describe('a large message', () => {
  test('keeps its beginning, passes on the rest in parts of 1 MiB and holds the memory of one', async () => {
    const budget = createMemoryBudget(2 * (HEAD_BYTES * 3 + MIB))
    const to = sink()
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget, maxBytes: 4 * MIB }), to.open)
    const raw = randomBytes(HEAD_BYTES + 2 * MIB + 5)
    await feed(
      stream,
      Array.from({ length: Math.ceil(raw.length / 50_000) }, (_, n) => raw.subarray(n * 50_000, (n + 1) * 50_000)),
    )
    const result = await received
    if (result.kind !== 'complete') throw new Error(result.kind)
    expect(to.heads).toEqual([HEAD_BYTES])
    expect(to.parts.map(({ length }) => length)).toEqual([MIB, MIB, 5])
    expect(Buffer.concat([result.raw, ...to.parts]).equals(raw)).toBe(true)
    result.release()
    expect(isFree(budget, 2 * (HEAD_BYTES * 3 + MIB))).toBe(true)
    expect(to.discarded).toBe(0)
  })

  test.each([HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1, HEAD_BYTES + MIB, HEAD_BYTES + MIB + 1])(
    'of %i octets comes as it was sent',
    async size => {
      const to = sink()
      const stream = new PassThrough()
      const received = receiveMessage(stream, limits({ maxBytes: 4 * MIB }), to.open)
      const raw = randomBytes(size)
      await feed(stream, [raw])
      const result = await received
      if (result.kind !== 'complete') throw new Error(result.kind)
      expect(Buffer.concat([result.raw, ...to.parts]).equals(raw)).toBe(true)
      expect(result.rest === undefined).toBe(size <= HEAD_BYTES)
    },
  )

  test('in chunks of any size comes as it was sent', async () => {
    const raw = randomBytes(HEAD_BYTES + MIB + 70_000)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 700_000 }), { maxLength: 6 }), async sizes => {
        const to = sink()
        const stream = new PassThrough()
        const received = receiveMessage(stream, limits({ maxBytes: 4 * MIB }), to.open)
        const ends = [...sizes.map((_, n) => sizes.slice(0, n + 1).reduce((a, b) => a + b)), raw.length]
        await feed(
          stream,
          ends.filter(end => end <= raw.length).map((end, n) => raw.subarray(n === 0 ? 0 : ends[n - 1], end)),
        )
        const result = await received
        if (result.kind !== 'complete') throw new Error(result.kind)
        expect(Buffer.concat([result.raw, ...to.parts]).equals(raw)).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  test.each<[string, (stream: PassThrough) => void, Partial<ReceiveLimits>, object]>([
    [
      'that turns out too large',
      stream => stream.end(),
      { maxBytes: 2 * MIB },
      { kind: 'refused', code: 'message_too_large' },
    ],
    ['whose sender goes away', stream => stream.destroy(), {}, { kind: 'gone' }],
    ['whose sender stalls', () => undefined, { windowMs: 90, bytesPerSecond: 1000 }, { kind: 'cut', code: 'too_slow' }],
  ])('%s is discarded', async (_, then, over, expected) => {
    const to = sink()
    const stream = new PassThrough()
    const given = limits({ maxBytes: 4 * MIB, ...over })
    const received = receiveMessage(stream, given, to.open)
    for (let n = 0; n < 40; n++)
      if (!stream.write(Buffer.alloc(65_536, 'x')) && !stream.destroyed)
        await new Promise(resolve => stream.once('drain', resolve).once('close', resolve))
    then(stream)
    expect(await received).toEqual(expected)
    expect(to.discarded).toBe(1)
    expect(isFree(given.budget, 100 * MIB)).toBe(true)
  })

  test('that cannot be stored is refused at its end and discarded', async () => {
    const to = sink(() => Promise.reject(new Error('away')))
    const stream = new PassThrough()
    const given = limits({ maxBytes: 4 * MIB })
    const received = receiveMessage(stream, given, to.open)
    await feed(stream, Array(40).fill(Buffer.alloc(65_536, 'x')))
    expect(await received).toEqual({ kind: 'refused', code: 'queue_unavailable' })
    expect(to.discarded).toBe(1)
    expect(isFree(given.budget, 100 * MIB)).toBe(true)
  })
})
