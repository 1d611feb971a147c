/** Turns refusals by use cases into conditions. */
import { ProblemError } from '../../../services/platform/problems.ts'
import { bad } from './conditions.ts'
import type { Outcome } from './reconcile.ts'

/** A refusal depends on records that other users may change: try again after this time. */
export const REFUSED_MS = 60_000

/** A refusal of a use case as an outcome; other errors, and temporary refusals, are thrown on. */
export function refusalOf(error: unknown): Outcome {
  if (!(error instanceof ProblemError) || error.code === 'unavailable' || error.code === 'rate_limited') throw error
  const invalid = error.code === 'validation_failed'
  const details = error.faults.map(({ pointer, message }) => `${pointer} ${message}`.trim()).join('; ')
  const message = [error.detail, details].filter(Boolean).join(' ')
  return {
    conditions: [bad('Accepted', invalid ? 'InvalidSpec' : 'Conflict', message)],
    message: '',
    requeueAfterMs: REFUSED_MS,
  }
}
