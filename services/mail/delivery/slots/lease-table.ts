/** The leases on slots that this worker holds, in its memory: what it may still do with each, by its own clock. */

/** Times of ownership, in milliseconds. */
export interface LeaseTimes {
  /** A lease without renewal ends after this time. */
  ttl: number
  /** Between renewals. */
  renew: number
  /** Safety margin: no final dot is sent when less than this remains of the lease. */
  margin: number
  /** Length of a slot's job; after it another worker may be invited. */
  run: number
}

interface Lease {
  epoch: number
  /** performance.now() at which it ends, counted from before the renewal was sent. */
  ends: number
}

/** Leases by slot. */
export class LeaseTable {
  readonly #times: LeaseTimes
  readonly #leases = new Map<number, Lease>()
  /** Still ours, but no new deliveries are claimed. */
  readonly #leaving = new Set<number>()

  constructor(times: LeaseTimes) {
    this.#times = times
  }

  get size(): number {
    return this.#leases.size
  }

  /** Number of slots that this worker means to keep. */
  get kept(): number {
    return this.#leases.size - this.#leaving.size
  }

  /** Number of leases that have not run out. */
  get usable(): number {
    return [...this.#leases.values()].filter(lease => this.#isUsable(lease)).length
  }

  has(slot: number): boolean {
    return this.#leases.has(slot)
  }

  isLeaving(slot: number): boolean {
    return this.#leaving.has(slot)
  }

  slots(): number[] {
    return [...this.#leases.keys()]
  }

  /** Notes a take or renewal that was asked for at `asked` (performance.now()). */
  set(docs: readonly { _id: number; epoch: number }[], asked: number): void {
    for (const { _id, epoch } of docs) this.#leases.set(_id, { epoch, ends: asked + this.#times.ttl })
  }

  /** Lost, or given back. */
  delete(slots: readonly number[]): void {
    for (const slot of slots) {
      this.#leases.delete(slot)
      this.#leaving.delete(slot)
    }
  }

  /** From now on nothing is claimed from these slots. */
  markLeaving(slots: readonly number[]): void {
    for (const slot of slots) this.#leaving.add(slot)
  }

  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number> {
    const usable = [...this.#leases].filter(([slot, lease]) => this.#isUsable(lease) && !this.#leaving.has(slot))
    return new Map(usable.map(([slot, { epoch }]) => [slot, epoch]))
  }

  /** True while a delivery claimed in this slot under this epoch may still get its final dot. */
  mayFinish({ slot, epoch }: { slot: number; epoch: number }): boolean {
    const lease = this.#leases.get(slot)
    return lease !== undefined && lease.epoch === epoch && this.#isUsable(lease)
  }

  #isUsable({ ends }: Lease): boolean {
    return ends - this.#times.margin > performance.now()
  }
}
