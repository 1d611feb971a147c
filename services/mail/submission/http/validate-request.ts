/** The rules between the fields of a message, as problems. */

import { ProblemError, refuseFields } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type EmailRequest, findRequestErrors, type RequestError, unsupportedIn } from '../rules/email-request.ts'

/** Throws what a parsed message lacks: fields that are not supported yet, then errors between fields. */
export function validateRequest(request: EmailRequest, now: Date): void {
  const unsupported = unsupportedIn(request)
  if (unsupported.length > 0)
    throw new ProblemError('unsupported_field', sentence('detail.unsupported_fields', { fields: unsupported }), {
      errors: unsupported.map(field => ({ pointer: `/${field}`, reason: sentence('field.unsupported_field') })),
    })
  refuseErrors(findRequestErrors(request, now))
}

/** Throws `validation_failed` when there is an error. */
export function refuseErrors(errors: readonly RequestError[]): void {
  if (errors.length > 0) throw refuseFields(errors)
}
