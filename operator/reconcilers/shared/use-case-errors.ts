/** Turns refusals by use cases into conditions. */
import { ProblemError } from '../../../services/platform/problems.ts'
import { clauses } from '../../../services/platform/sentences/compose.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { bad } from './conditions.ts'
import type { Outcome } from './reconcile.ts'

/** A refusal depends on records that other users may change: try again after this time. */
export const REFUSED_MS = 60_000

/**
 * A refusal of a use case as an outcome; other errors, and temporary refusals, are thrown on. `fieldOf`: the field of the
 * resource for a JSON pointer of the use case; errors then name fields alone, without the detail in the words of the API.
 */
export function refusalOf(error: unknown, fieldOf?: (pointer: string) => string): Outcome {
  if (!(error instanceof ProblemError) || error.code === 'unavailable' || error.code === 'rate_limited') throw error
  const invalid = error.code === 'validation_failed'
  const detail = error.sentence
  const errors = error.errors.map(({ pointer, reason }) =>
    pointer === '' ? reason : sentence('resource.field_error', { pointer: fieldOf?.(pointer) ?? pointer, reason }),
  )
  const listed = (all: typeof errors) =>
    fieldOf
      ? sentence('resource.spec_invalid', { errors: clauses(all) })
      : sentence('resource.refused', { detail, errors: clauses(all) })
  const message = errors.length > 0 ? listed(errors) : detail
  return {
    conditions: [bad('Accepted', invalid ? 'InvalidSpec' : 'Conflict', message)],
    requeueAfterMs: REFUSED_MS,
  }
}
