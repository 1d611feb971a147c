/** Which error of Resend a problem of the own API is. */
import type { FieldError } from '../../../platform/sentences/field-error.ts'
import type { ForeignRefusal } from './foreign-error.ts'

/** A problem as far as its translation depends on it. */
export interface ProblemFacts {
  code: string
  /** Status of the own API, for what has no entry below. */
  http: number
  sentence: { code: string }
  errors: readonly FieldError[]
}

const refusal = (status: number, name: ForeignRefusal['name']): ForeignRefusal => ({ status, name })

/** By the code of the problem. */
export const REFUSALS: Readonly<Record<string, ForeignRefusal>> = {
  invalid_json: refusal(400, 'validation_error'),
  invalid_request: refusal(400, 'validation_error'),
  unsupported_media_type: refusal(400, 'validation_error'),
  not_logged_in: refusal(401, 'missing_api_key'),
  insufficient_scope: refusal(401, 'restricted_api_key'),
  forbidden: refusal(401, 'restricted_api_key'),
  invalid_token: refusal(403, 'invalid_api_key'),
  network_not_allowed: refusal(403, 'invalid_api_key'),
  account_suspended: refusal(403, 'suspended_api_key'),
  // The original answers so for a domain that is not verified.
  domain_not_verified: refusal(403, 'validation_error'),
  sender_not_allowed: refusal(403, 'validation_error'),
  not_found: refusal(404, 'not_found'),
  method_not_allowed: refusal(405, 'method_not_allowed'),
  idempotency_key_reused: refusal(409, 'invalid_idempotent_request'),
  idempotency_in_progress: refusal(409, 'concurrent_idempotent_requests'),
  rate_limited: refusal(429, 'rate_limit_exceeded'),
  quota_exceeded: refusal(429, 'rate_limit_exceeded'),
  bulk_unauthenticated: refusal(429, 'rate_limit_exceeded'),
  daily_quota_exceeded: refusal(429, 'daily_quota_exceeded'),
}

/** The answer to a problem. Conflicts and everything else that the request can change are 422 `validation_error`. */
export function refusalOf({ code, http, sentence, errors }: ProblemFacts): ForeignRefusal {
  if (sentence.code === 'detail.idempotency_key') return refusal(400, 'invalid_idempotency_key')
  if (code === 'validation_failed') return refusalOfFields(errors)
  const known = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined
  if (known) return known
  return http >= 500 ? refusal(http, 'application_error') : refusal(422, 'validation_error')
}

/** Fields of paths and queries. */
const PARAMETER = /^\/(?:id|limit|after|before)$/
/** The index of a message in a batch goes before its field. */
const IN_BATCH = /^\/\d+(?=\/)/

/** The first error decides, as its sentence is the message. */
function refusalOfFields([first]: readonly FieldError[]): ForeignRefusal {
  if (!first) return refusal(422, 'validation_error')
  const field = first.pointer.replace(IN_BATCH, '')
  const code = first.code ?? first.reason.code
  if (PARAMETER.test(field)) return refusal(422, 'invalid_parameter')
  if (
    /^(?:field\.required|field\.recipient_missing|missing)$/.test(code) ||
    first.reason.code === 'field.recipient_missing'
  )
    return refusal(422, 'missing_required_field')
  if (/^\/attachments(?:\/|$)/.test(field)) return refusal(422, 'invalid_attachment')
  if (field === '/from') return refusal(422, 'invalid_from_address')
  return refusal(422, 'validation_error')
}
