/** What the parts of a process have in common: they run until they are stopped. */

/** A part that runs until it is stopped. `stop` resolves when its work in flight is finished. */
export interface Running {
  stop(): Promise<void>
  /** Why this part cannot take work yet, for `/readyz`; undefined when it can. */
  notReady?(): string | undefined
  /** Why this part must be started again, for `/healthz`; undefined while it lives. */
  notAlive?(): string | undefined
}
