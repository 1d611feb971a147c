/** Failures that are tried again, and that people have to read about meanwhile. */
import type { ConditionState } from './conditions.ts'

/** A failure that the status tells in words of its own. It is tried again as any other, after a pause that grows. */
export class ReportedError extends Error {
  readonly condition: ConditionState
  constructor(condition: ConditionState, cause: unknown) {
    super(condition.message, { cause })
    this.name = 'ReportedError'
    this.condition = condition
  }
}
