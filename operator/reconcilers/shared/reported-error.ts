/** Failures that are retried, and that the status reports until then. */
import type { ConditionState } from './conditions.ts'

/** A failure with its own condition. It is retried after a growing pause, like any other. */
export class ReportedError extends Error {
  readonly condition: ConditionState
  constructor(condition: ConditionState, cause: unknown) {
    super(condition.message, { cause })
    this.name = 'ReportedError'
    this.condition = condition
  }
}
