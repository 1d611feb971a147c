/** Keeps what follows the beginning of an incoming message, up to a limit; the rest is read and thrown away. */
import type { MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import type { PartSink } from '../../submission/smtp/receive.ts'

/** A tail in memory, which counts against a budget until it is released. */
export class KeptOctets implements PartSink {
  readonly #parts: Buffer[] = []
  readonly #budget: MemoryBudget
  readonly #account: string
  #room: number
  #counted = 0
  /** Octets that came in, kept or not. */
  seen = 0

  /** `room`: octets to keep. */
  constructor(budget: MemoryBudget, account: string, room: number) {
    this.#budget = budget
    this.#account = account
    this.#room = room
  }

  /** Rejects when there is no memory. */
  async write(part: Buffer): Promise<void> {
    this.seen += part.length
    const kept = part.subarray(0, this.#room)
    if (kept.length === 0) return
    if (!this.#budget.take(this.#account, kept.length)) throw new Error('no memory for a message')
    this.#counted += kept.length
    this.#room -= kept.length
    this.#parts.push(Buffer.from(kept))
  }

  async discard(): Promise<void> {
    this.release()
  }

  /** The message: its beginning and what was kept. */
  after(head: Buffer): Buffer {
    return Buffer.concat([head, ...this.#parts])
  }

  release(): void {
    this.#budget.give(this.#account, this.#counted)
    this.#counted = 0
    this.#parts.length = 0
  }
}
