/** Errors in the format of Resend: `{statusCode, name, message}`. Names and statuses are those that its SDKs know. */
import { type Sentence, SentenceError } from '../../../platform/sentences/sentence.ts'

/** Names that are answered. `not_implemented` is ours: what is not served. */
export type ErrorName =
  | 'application_error'
  | 'concurrent_idempotent_requests'
  | 'daily_quota_exceeded'
  | 'invalid_api_key'
  | 'invalid_attachment'
  | 'invalid_from_address'
  | 'invalid_idempotency_key'
  | 'invalid_idempotent_request'
  | 'invalid_parameter'
  | 'method_not_allowed'
  | 'missing_api_key'
  | 'missing_required_field'
  | 'not_found'
  | 'not_implemented'
  | 'rate_limit_exceeded'
  | 'restricted_api_key'
  | 'suspended_api_key'
  | 'validation_error'

/** How a refusal is answered. */
export interface ForeignRefusal {
  status: number
  name: ErrorName
}

/** A refusal of this API itself; what use cases refuse is a `ProblemError`. */
export class ForeignError extends SentenceError {
  readonly refusal: ForeignRefusal
  constructor(status: number, name: ErrorName, reason: Sentence) {
    super(reason)
    this.refusal = { status, name }
  }
}

/** What is not served, so that no client takes it for done. */
export function notServed(reason: Sentence): ForeignError {
  return new ForeignError(501, 'not_implemented', reason)
}
