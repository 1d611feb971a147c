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

/** Where the octets after {@link HEAD_BYTES} go while the message comes in. */
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
  | { kind: 'complete'; raw: Buffer; rest: S | undefined; release(): void }
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
/** How many times in its window a sender's rate is checked. */
const CHECKS = 30

/** Reads a message to its end or to the first reason not to. `open` is called when more comes than its beginning. Never rejects. */
export async function receiveMessage<S extends PartSink>(
  stream: Readable,
  limits: ReceiveLimits,
  open: (head: Buffer) => S,
): Promise<Received<S>> {
  const buffer = new MessageBuffer(limits, open)
  const seen: { bytes: number; refused?: RefusedCode; cut?: CutCode } = { bytes: 0 }
  const rate = watchRate(limits, () => seen.bytes, tooSlow)
  function tooSlow() {
    seen.cut = 'too_slow'
    stream.destroy()
  }
  const refuse = (code: RefusedCode) => {
    seen.refused = code
    buffer.drop()
  }
  const take = async (chunk: Buffer): Promise<void> => {
    seen.bytes += chunk.length
    // SMTP answers at the end, so the rest of a message that is refused is read and thrown away; within reason.
    if (seen.bytes > 2 * limits.maxBytes) seen.cut = 'message_too_large'
    if (seen.cut || seen.refused) return
    if (seen.bytes > limits.maxBytes) return refuse('message_too_large')
    const added = buffer.add(chunk)
    if (!(added === true || (await rate.pause(added)))) refuse('queue_unavailable')
  }
  const end = async (): Promise<Received<S>> => {
    const complete = seen.cut || seen.refused ? undefined : await rate.pause(buffer.finish())
    if (complete) return { kind: 'complete', ...complete }
    buffer.drop()
    return seen.cut ? { kind: 'cut', code: seen.cut } : { kind: 'refused', code: seen.refused ?? 'queue_unavailable' }
  }
  stream.on('error', () => undefined) // the loop ends with it
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await take(chunk)
      if (seen.cut) break
    }
    return await end()
  } catch {
    buffer.drop()
    return seen.cut ? { kind: 'cut', code: seen.cut } : { kind: 'gone' }
  } finally {
    rate.stop()
  }
}

/** Keeps the beginning of a message in memory and writes what follows to storage. */
class MessageBuffer<S extends PartSink> {
  readonly #budget: MemoryBudget
  readonly #account: string
  readonly #open: (head: Buffer) => S
  /** Memory that is counted, in bytes. */
  #counted = 0
  #head = Buffer.alloc(0)
  #headBytes = 0
  #part: Buffer | undefined
  #partBytes = 0
  #sink: S | undefined

  constructor({ budget, account }: ReceiveLimits, open: (head: Buffer) => S) {
    this.#budget = budget
    this.#account = account
    this.#open = open
  }

  /** False, now or later, when there is no room for the octets. One call at a time. */
  add(octets: Buffer): boolean | Promise<boolean> {
    const room = HEAD_BYTES - this.#headBytes
    if (octets.length <= room) return this.#addToHead(octets)
    return (room === 0 || this.#addToHead(octets.subarray(0, room))) && this.#addToPart(octets.subarray(room))
  }

  /** Writes the last part; undefined when it, or the copies of the beginning, find no room. */
  async finish(): Promise<{ raw: Buffer; rest: S | undefined; release(): void } | undefined> {
    if (!(await this.#flush())) return undefined
    if (this.#part) {
      this.#part = undefined
      this.#budget.give(this.#account, PART_BYTES)
      this.#counted -= PART_BYTES
    }
    if (!this.#count(COPIES * this.#headBytes)) return undefined
    const raw = this.#head.subarray(0, this.#headBytes)
    return { raw, rest: this.#sink, release: () => this.#release() }
  }

  /** Forgets everything, also what was written. */
  drop(): void {
    this.#release()
    this.#head = Buffer.alloc(0)
    this.#part = undefined
    void this.#sink?.discard()
    this.#sink = undefined
  }

  #count(bytes: number): boolean {
    if (!this.#budget.take(this.#account, bytes)) return false
    this.#counted += bytes
    return true
  }

  #release(): void {
    this.#budget.give(this.#account, this.#counted)
    this.#counted = 0
  }

  /** Copies into a buffer of our own: a chunk may be a few octets of a large one that lives on with it. */
  #addToHead(octets: Buffer): boolean {
    const wanted = this.#headBytes + octets.length
    if (wanted > this.#head.length) {
      const size = Math.min(HEAD_BYTES, Math.max(FIRST_BLOCK_BYTES, 2 ** Math.ceil(Math.log2(wanted))))
      if (!this.#count(size - this.#head.length)) return false
      const larger = Buffer.allocUnsafeSlow(size)
      this.#head.copy(larger, 0, 0, this.#headBytes)
      this.#head = larger
    }
    octets.copy(this.#head, this.#headBytes)
    this.#headBytes = wanted
    return true
  }

  #addToPart(octets: Buffer): boolean | Promise<boolean> {
    if (!this.#part) {
      if (!this.#count(PART_BYTES)) return false
      this.#part = Buffer.allocUnsafeSlow(PART_BYTES)
      this.#sink = this.#open(this.#head)
    }
    const fits = octets.copy(this.#part, this.#partBytes)
    this.#partBytes += fits
    if (this.#partBytes < PART_BYTES) return true
    return this.#flush().then(stored => stored && (fits === octets.length || this.#addToPart(octets.subarray(fits))))
  }

  async #flush(): Promise<boolean> {
    if (!this.#sink || !this.#part || this.#partBytes === 0) return true
    const full = this.#part.subarray(0, this.#partBytes)
    this.#partBytes = 0
    return this.#sink.write(full).then(
      () => true,
      () => false,
    )
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
    /** Waits for something that the sender has to wait for as well; its window begins again afterwards. */
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
