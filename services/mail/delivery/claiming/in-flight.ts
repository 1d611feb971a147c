/** The deliveries that this worker has in hand: claimed, and neither settled nor given back. */
import { addTo } from '../../../platform/count-by-key.ts'
import type { Claimed } from '../../store/deliveries.ts'

/** What is in hand. */
export class Hand {
  readonly #siteOf: (delivery: Claimed) => string

  /** `siteOf`: whose place a delivery takes; in relay mode there is one site for all. */
  constructor(siteOf: (delivery: Pick<Claimed, 'site'>) => string = ({ site }) => site) {
    this.#siteOf = siteOf
  }

  readonly #held = new Map<string, Claimed>()
  readonly #perSlot = new Map<number, number>()
  readonly #perAccount = new Map<string, number>()
  /** Of each message the number of its deliveries in hand, and what its body takes of memory. */
  readonly #messages = new Map<string, { deliveries: number; bytes: number }>()
  #bodyBytes = 0
  /** Of each site the messages in hand whose transaction has not ended, with the number of their recipients. */
  readonly #places = new Map<string, Map<string, number>>()
  /** Deliveries that take no place at their site any more. */
  readonly #left = new Set<string>()
  readonly #waiting: { slot: number | undefined; resolve: () => void }[] = []

  /** Number of deliveries. */
  get size(): number {
    return this.#held.size
  }

  has(id: string): boolean {
    return this.#held.has(id)
  }

  /** Number of the account's deliveries. */
  heldFor(userId: string): number {
    return this.#perAccount.get(userId) ?? 0
  }

  /** Memory of the bodies that were read for what is in hand, in bytes. */
  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** The body of a message is in memory for as long as anything of it is in hand. */
  addBody(messageId: string, bytes: number): void {
    const message = this.#messages.get(messageId)
    if (!message) return
    message.bytes += bytes
    this.#bodyBytes += bytes
  }

  /** All of them, for renewal. */
  all(): Claimed[] {
    return [...this.#held.values()]
  }

  /** Messages of a site that wait for their transaction or are in it: about as many transactions. */
  placesAt(site: string): number {
    return this.#places.get(site)?.size ?? 0
  }

  /** The transaction of a delivery is over: it takes no place at its site, and stays in hand until it is settled. */
  leave({ _id }: Pick<Claimed, '_id'>): void {
    const held = this.#held.get(_id)
    if (!held || this.#left.has(_id)) return
    this.#left.add(_id)
    this.#vacate(held)
  }

  take(claimed: readonly Claimed[]): void {
    for (const delivery of claimed) {
      const site = this.#siteOf(delivery)
      const places = this.#places.get(site) ?? new Map<string, number>()
      addTo(places, delivery.m, 1)
      this.#places.set(site, places)
      this.#held.set(delivery._id, delivery)
      addTo(this.#perSlot, delivery.slot, 1)
      addTo(this.#perAccount, delivery.user_id, 1)
      const message = this.#messages.get(delivery.m)
      if (message) message.deliveries++
      else this.#messages.set(delivery.m, { deliveries: 1, bytes: 0 })
    }
  }

  drop({ _id, slot }: Pick<Claimed, '_id' | 'slot'>): void {
    const held = this.#held.get(_id)
    if (!held) return
    this.#held.delete(_id)
    if (!this.#left.delete(_id)) this.#vacate(held)
    addTo(this.#perAccount, held.user_id, -1)
    this.#forgetBody(held.m)
    if (addTo(this.#perSlot, slot, -1) === 0 && this.#waiting.length > 0) this.#release()
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

  #forgetBody(messageId: string): void {
    const message = this.#messages.get(messageId)
    if (!message || --message.deliveries > 0) return
    this.#messages.delete(messageId)
    this.#bodyBytes -= message.bytes
  }

  #vacate(held: Claimed): void {
    const site = this.#siteOf(held)
    const places = this.#places.get(site)
    if (!places) return
    addTo(places, held.m, -1)
    if (places.size === 0) this.#places.delete(site)
  }

  #release(): void {
    for (const waiter of this.#waiting.splice(0)) {
      if (this.isIdle(waiter.slot)) waiter.resolve()
      else this.#waiting.push(waiter)
    }
  }
}
