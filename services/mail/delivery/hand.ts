/** The deliveries that this worker has in hand: claimed, and neither settled nor given back. */
import type { Claimed } from '../store/deliveries.ts'

/** What is in hand. */
export class Hand {
  readonly #held = new Map<string, Claimed>()
  readonly #perSlot = new Map<number, number>()
  readonly #waiting: { slot: number | undefined; resolve: () => void }[] = []

  /** Number of deliveries. */
  get size(): number {
    return this.#held.size
  }

  has(id: string): boolean {
    return this.#held.has(id)
  }

  /** All of them, for renewal. */
  all(): Claimed[] {
    return [...this.#held.values()]
  }

  take(claimed: readonly Claimed[]): void {
    for (const delivery of claimed) {
      this.#held.set(delivery._id, delivery)
      this.#perSlot.set(delivery.slot, (this.#perSlot.get(delivery.slot) ?? 0) + 1)
    }
  }

  drop({ _id, slot }: Pick<Claimed, '_id' | 'slot'>): void {
    if (!this.#held.delete(_id)) return
    const left = (this.#perSlot.get(slot) ?? 1) - 1
    if (left > 0) this.#perSlot.set(slot, left)
    else this.#perSlot.delete(slot)
    if (left === 0 && this.#waiting.length > 0) this.#release()
  }

  /** Resolves when nothing of the slot is in hand, or nothing at all without a slot. */
  idle(slot?: number): Promise<void> {
    if (this.isIdle(slot)) return Promise.resolve()
    return new Promise(resolve => this.#waiting.push({ slot, resolve }))
  }

  /** True when nothing of the slot is in hand, or nothing at all without a slot. */
  isIdle(slot?: number): boolean {
    return slot === undefined ? this.#held.size === 0 : !this.#perSlot.has(slot)
  }

  #release(): void {
    for (const waiter of this.#waiting.splice(0)) {
      if (this.isIdle(waiter.slot)) waiter.resolve()
      else this.#waiting.push(waiter)
    }
  }
}
