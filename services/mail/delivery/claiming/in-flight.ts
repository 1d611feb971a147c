/** The deliveries that this worker is responsible for: claimed, and neither settled nor given back. */
import { addTo } from '../../../platform/count-by-key.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'

/** Deliveries in flight, counted by slot, account, message and site. */
export class InFlight {
  readonly #siteOf: (delivery: ClaimedDelivery) => string
  readonly #deliveries = new Map<string, ClaimedDelivery>()
  readonly #perSlot = new Map<number, number>()
  readonly #perAccount = new Map<string, number>()
  /** By message: its deliveries in flight, and the memory that its body takes. */
  readonly #messages = new Map<string, { deliveries: number; bytes: number }>()
  #bodyBytes = 0
  /** By site: the messages whose transaction has not ended, with the number of their recipients. */
  readonly #atSite = new Map<string, Map<string, number>>()
  /** Deliveries whose transaction has ended. */
  readonly #sent = new Set<string>()
  readonly #waiting: { slot: number | undefined; resolve: () => void }[] = []

  /** `siteOf`: the site that a delivery counts for; in relay mode there is one site for all. */
  constructor(siteOf: (delivery: Pick<ClaimedDelivery, 'site'>) => string = ({ site }) => site) {
    this.#siteOf = siteOf
  }

  /** Number of deliveries. */
  get size(): number {
    return this.#deliveries.size
  }

  has(id: string): boolean {
    return this.#deliveries.has(id)
  }

  /** Number of the account's deliveries. */
  countOf(userId: string): number {
    return this.#perAccount.get(userId) ?? 0
  }

  /** Memory of the bodies that were read together with their claim, in bytes. */
  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** Counts the body of a message for as long as a delivery of the message is in flight. */
  addBody(messageId: string, bytes: number): void {
    const message = this.#messages.get(messageId)
    if (!message) return
    message.bytes += bytes
    this.#bodyBytes += bytes
  }

  /** All of them, for the renewal of claims. */
  all(): ClaimedDelivery[] {
    return [...this.#deliveries.values()]
  }

  /** Messages of a site that wait for their transaction or are in it: about as many transactions. */
  messagesAt(site: string): number {
    return this.#atSite.get(site)?.size ?? 0
  }

  add(claimed: readonly ClaimedDelivery[]): void {
    for (const delivery of claimed) {
      const site = this.#siteOf(delivery)
      const messages = this.#atSite.get(site) ?? new Map<string, number>()
      addTo(messages, delivery.messageId, 1)
      this.#atSite.set(site, messages)
      this.#deliveries.set(delivery.id, delivery)
      addTo(this.#perSlot, delivery.slot, 1)
      addTo(this.#perAccount, delivery.userId, 1)
      const message = this.#messages.get(delivery.messageId)
      if (message) message.deliveries++
      else this.#messages.set(delivery.messageId, { deliveries: 1, bytes: 0 })
    }
  }

  /** The transaction of a delivery has ended: it no longer counts at its site, and stays in flight until it is settled. */
  leaveSite({ id }: Pick<ClaimedDelivery, 'id'>): void {
    const delivery = this.#deliveries.get(id)
    if (!delivery || this.#sent.has(id)) return
    this.#sent.add(id)
    this.#uncountAtSite(delivery)
  }

  /** Settled or given back. */
  remove({ id }: Pick<ClaimedDelivery, 'id'>): void {
    const delivery = this.#deliveries.get(id)
    if (!delivery) return
    this.#deliveries.delete(id)
    if (!this.#sent.delete(id)) this.#uncountAtSite(delivery)
    addTo(this.#perAccount, delivery.userId, -1)
    this.#uncountBody(delivery.messageId)
    if (addTo(this.#perSlot, delivery.slot, -1) === 0 && this.#waiting.length > 0) this.#resolveIdle()
  }

  /** Resolves when no delivery of the slot is in flight, or none at all without a slot. */
  whenIdle(slot?: number): Promise<void> {
    if (this.isIdle(slot)) return Promise.resolve()
    return new Promise(resolve => this.#waiting.push({ slot, resolve }))
  }

  /** True when no delivery of the slot is in flight, or none at all without a slot. */
  isIdle(slot?: number): boolean {
    return slot === undefined ? this.#deliveries.size === 0 : !this.#perSlot.has(slot)
  }

  #uncountBody(messageId: string): void {
    const message = this.#messages.get(messageId)
    if (!message || --message.deliveries > 0) return
    this.#messages.delete(messageId)
    this.#bodyBytes -= message.bytes
  }

  #uncountAtSite(delivery: ClaimedDelivery): void {
    const site = this.#siteOf(delivery)
    const messages = this.#atSite.get(site)
    if (!messages) return
    addTo(messages, delivery.messageId, -1)
    if (messages.size === 0) this.#atSite.delete(site)
  }

  #resolveIdle(): void {
    for (const waiter of this.#waiting.splice(0)) {
      if (this.isIdle(waiter.slot)) waiter.resolve()
      else this.#waiting.push(waiter)
    }
  }
}
