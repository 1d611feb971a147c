/** Flows that are kept between two rounds; more are found by the scan of the index. */
const FLOWS_MOST = 20_000

/** What wakes the claim loop before its next poll, and what the wake-ups name. One waiter. */
export class WakeUps {
  readonly #flows = new Set<string>()
  readonly #sites = new Set<string>()
  #notified = false
  #endWait: (() => void) | undefined

  /** These flows have new mail. */
  newMail(flows: Iterable<string>): void {
    this.addFlows(flows)
    this.notify()
  }

  /** The same, without waking the loop: it is about to claim anyway. */
  addFlows(flows: Iterable<string>): void {
    for (const flow of flows) if (this.#flows.size < FLOWS_MOST) this.#flows.add(flow)
  }

  /** A site has room again, or its pause is over. */
  siteHasRoom(site: string): void {
    this.#sites.add(site)
    this.notify()
  }

  /** Ends the wait, or the next one if nothing waits now. */
  notify(): void {
    this.#notified = true
    this.#endWait?.()
  }

  /** Resolves at the next notification or after `ms`; true when it was a notification. */
  wait(ms: number): Promise<boolean> {
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        this.#endWait = undefined
        const wasNotified = this.#notified
        this.#notified = false
        resolve(wasNotified)
      }
      const timer = setTimeout(end, ms)
      this.#endWait = end
      if (this.#notified) end()
    })
  }

  /** The flows named since the last call. */
  takeFlows(): string[] {
    return take(this.#flows)
  }

  /** The sites named since the last call. */
  takeSites(): string[] {
    return take(this.#sites)
  }
}

function take(names: Set<string>): string[] {
  const taken = [...names]
  names.clear()
  return taken
}
