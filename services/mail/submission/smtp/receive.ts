/** Takes in the octets of a message: bounded in size, in time and, over all connections, in memory. */
import type { Readable } from 'node:stream'
import type { MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'

/** Bounds of one message. */
export interface ReceiveLimits {
  maxBytes: number
  /** A sender that was slower than this over the last `windowMs` is cut off. */
  bytesPerSecond: number
  windowMs: number
  /** Counts every block that is held, and the copies that are made of the beginning until the message is stored. */
  budget: MemoryBudget
  /** Who holds what is counted. */
  account: string
}

/** Where the octets behind {@link HEAD_BYTES} go while the message comes in. */
export interface PartSink {
  /** Resolves when the part is stored; its memory is used again then. Rejects when it cannot be stored. */
  write(part: Buffer): Promise<void>
  /** Removes what was stored: the message did not come to its end. */
  discard(): Promise<void>
}

type RefusedCode = 'message_too_large' | 'queue_unavailable'
type CutCode = 'message_too_large' | 'too_slow'

/** How the message came in. */
export type Received<S extends PartSink> =
  /**
   * All of it: in `raw`, or its beginning in `raw` and the rest in `rest`. The memory of `raw` counts until `release`.
   */
  | { kind: 'whole'; raw: Buffer; rest: S | undefined; release(): void }
  /** To the end, but nothing of it was kept. */
  | { kind: 'refused'; code: RefusedCode }
  /** The sender goes on too long; the connection must be closed. */
  | { kind: 'cut'; code: CutCode }
  /** The sender is gone. */
  | { kind: 'gone' }

/** So much of a message is kept in memory, more than any header that is accepted; what follows goes to storage in parts. */
export const HEAD_BYTES = 512 * 1024
/** Octets of a part, at most those of a part of a stored body. */
const PART_BYTES = 1024 * 1024
/** The first block, where the chunk that fills it is not larger: most messages fit. */
const FIRST_BLOCK_BYTES = 8 * 1024
/** Of the beginning there are up to three copies until it is stored: as received, with its trace, and compressed. */
const COPIES = 2
/** How many times in its window a sender's rate is looked at. */
const CHECKS = 30

/** Reads a message to its end or to the first reason not to. `open` is called when more comes than its beginning. Never rejects. */
export async function receiveMessage<S extends PartSink>(
  stream: Readable,
  limits: ReceiveLimits,
  open: (head: Buffer) => S,
): Promise<Received<S>> {
  const store = createStore(limits, open)
  const so: { bytes: number; refused?: RefusedCode; cut?: CutCode } = { bytes: 0 }
  const rate = watchRate(limits, () => so.bytes, tooSlow)
  function tooSlow() {
    so.cut = 'too_slow'
    stream.destroy()
  }
  const refuse = (code: RefusedCode) => {
    so.refused = code
    store.drop()
  }
  const take = async (chunk: Buffer): Promise<void> => {
    so.bytes += chunk.length
    // SMTP answers at the end, so the rest of a message that is refused is read and thrown away; within reason.
    if (so.bytes > 2 * limits.maxBytes) so.cut = 'message_too_large'
    if (so.cut || so.refused) return
    if (so.bytes > limits.maxBytes) return refuse('message_too_large')
    const added = store.add(chunk)
    if (!(added === true || (await rate.pause(added)))) refuse('queue_unavailable')
  }
  const end = async (): Promise<Received<S>> => {
    const whole = so.cut || so.refused ? undefined : await rate.pause(store.finish())
    if (whole) return { kind: 'whole', ...whole }
    store.drop()
    return so.cut ? { kind: 'cut', code: so.cut } : { kind: 'refused', code: so.refused ?? 'queue_unavailable' }
  }
  stream.on('error', () => undefined) // the loop ends with it
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await take(chunk)
      if (so.cut) break
    }
    return await end()
  } catch {
    store.drop()
    return so.cut ? { kind: 'cut', code: so.cut } : { kind: 'gone' }
  } finally {
    rate.stop()
  }
}

/** Holds the beginning of a message and hands on what follows. */
function createStore<S extends PartSink>({ budget, account }: ReceiveLimits, open: (head: Buffer) => S) {
  let held = 0
  let head = Buffer.alloc(0)
  let headBytes = 0
  let part: Buffer | undefined
  let partBytes = 0
  let sink: S | undefined

  const take = (bytes: number): boolean => {
    if (!budget.take(account, bytes)) return false
    held += bytes
    return true
  }
  const release = () => {
    budget.give(account, held)
    held = 0
  }
  /** Copies into a buffer of our own: a chunk may be a few octets of a large one that lives on with it. */
  const addToHead = (octets: Buffer): boolean => {
    const wanted = headBytes + octets.length
    if (wanted > head.length) {
      const size = Math.min(HEAD_BYTES, Math.max(FIRST_BLOCK_BYTES, 2 ** Math.ceil(Math.log2(wanted))))
      if (!take(size - head.length)) return false
      const larger = Buffer.allocUnsafeSlow(size)
      head.copy(larger, 0, 0, headBytes)
      head = larger
    }
    octets.copy(head, headBytes)
    headBytes = wanted
    return true
  }
  const flush = async (): Promise<boolean> => {
    if (!sink || !part || partBytes === 0) return true
    const full = part.subarray(0, partBytes)
    partBytes = 0
    return sink.write(full).then(
      () => true,
      () => false,
    )
  }
  const addToPart = (octets: Buffer): boolean | Promise<boolean> => {
    if (!part) {
      if (!take(PART_BYTES)) return false
      part = Buffer.allocUnsafeSlow(PART_BYTES)
      sink = open(head)
    }
    const fits = octets.copy(part, partBytes)
    partBytes += fits
    if (partBytes < PART_BYTES) return true
    return flush().then(stored => stored && (fits === octets.length || addToPart(octets.subarray(fits))))
  }

  return {
    /** False, now or later, when there is no room for the octets. One call at a time. */
    add(octets: Buffer): boolean | Promise<boolean> {
      const room = HEAD_BYTES - headBytes
      if (octets.length <= room) return addToHead(octets)
      return (room === 0 || addToHead(octets.subarray(0, room))) && addToPart(octets.subarray(room))
    },
    /** Hands on the last part; undefined when it, or the copies of the beginning, find no room. */
    async finish(): Promise<{ raw: Buffer; rest: S | undefined; release(): void } | undefined> {
      if (!(await flush())) return undefined
      if (part) {
        part = undefined
        budget.give(account, PART_BYTES)
        held -= PART_BYTES
      }
      if (!take(COPIES * headBytes)) return undefined
      return { raw: head.subarray(0, headBytes), rest: sink, release }
    },
    /** Forgets everything, also what was handed on. */
    drop(): void {
      release()
      head = Buffer.alloc(0)
      part = undefined
      void sink?.discard()
      sink = undefined
    },
  }
}

/** Calls `tooSlow` when a window passed in which too few octets came. It has ticks instead of times: we may be what was slow. */
function watchRate({ bytesPerSecond, windowMs }: ReceiveLimits, octets: () => number, tooSlow: () => void) {
  let counts = [0]
  let paused = false
  const timer = setInterval(() => {
    if (paused) return
    counts.push(octets())
    const [before = 0] = counts.length > CHECKS ? counts.splice(0, 1) : [Number.NEGATIVE_INFINITY]
    if (octets() - before < (bytesPerSecond * windowMs) / 1000) tooSlow()
  }, windowMs / CHECKS)
  return {
    /** Waits for something that the sender has to wait for as well; its window begins again behind it. */
    async pause<T>(work: T | Promise<T>): Promise<T> {
      paused = true
      try {
        return await work
      } finally {
        paused = false
        counts = [octets()]
      }
    },
    stop: () => clearInterval(timer),
  }
}
