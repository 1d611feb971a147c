/** Failures that are tried again, and that people have to read about meanwhile. */
import type { Aspect } from './conditions.ts'

/** A failure that the status tells in words of its own. It is tried again as any other, after a pause that grows. */
export class ToldError extends Error {
  readonly aspect: Aspect
  constructor(aspect: Aspect, cause: unknown) {
    super(aspect.message, { cause })
    this.name = 'ToldError'
    this.aspect = aspect
  }
}
