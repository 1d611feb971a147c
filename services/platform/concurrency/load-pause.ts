/** The load at which the pause is longest. */
export interface LoadPauseOptions {
  /** In milliseconds. */
  longestMs: number
  /** Items a second from which on the pause is the longest. With 0 it always is. */
  rate: number
  /** Milliseconds of a clock that never goes back; default `performance.now()`. */
  now?(): number
}

/** The rate is that of about so many milliseconds. */
const MEMORY_MS = 250

/**
 * Least time between rounds that cost the same whether they take one item or many. It grows with the square of the rate:
 * a quiet system reacts immediately, a busy one gathers.
 */
export class LoadPause {
  readonly #options: LoadPauseOptions
  /** Items so far, older ones with less weight. */
  #items = 0
  #at = Number.NEGATIVE_INFINITY

  constructor(options: LoadPauseOptions) {
    this.#options = options
  }

  /** Counts the items of a round; returns the milliseconds from its start to the next one. */
  after(items: number): number {
    const { longestMs, rate, now = () => performance.now() } = this.#options
    const at = now()
    this.#items = this.#items * Math.exp((this.#at - at) / MEMORY_MS) + items
    this.#at = at
    const most = (rate * MEMORY_MS) / 1000
    return this.#items >= most ? longestMs : longestMs * (this.#items / most) ** 2
  }
}
