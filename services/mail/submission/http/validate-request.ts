/** The rules between the fields of a message, as problems. */
import { type FieldFault, ProblemError, problems } from '../../../platform/problems.ts'
import { type EmailRequest, faultsOf, unsupportedIn } from '../rules/email-request.ts'

/** Throws what a parsed message lacks: fields that are not built yet, then faults between fields. */
export function judgeRequest(request: EmailRequest, now: Date): void {
  const unsupported = unsupportedIn(request)
  if (unsupported.length > 0)
    throw new ProblemError('unsupported_field', `Not supported yet: ${unsupported.join(', ')}.`, {
      faults: unsupported.map(field => ({
        pointer: `/${field}`,
        code: 'unsupported_field',
        message: problems.unsupported_field.title,
      })),
    })
  refuseFaults(faultsOf(request, now))
}

/** Throws `validation_failed` when there is a fault. */
export function refuseFaults(faults: readonly FieldFault[]): void {
  const [first] = faults
  if (first) throw new ProblemError('validation_failed', `${first.pointer}: ${first.message}`, { faults })
}
