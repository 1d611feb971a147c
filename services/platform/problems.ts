/**
 * The one register of what can be refused: HTTP status and SMTP reply. The title of each is the sentence
 * `problem.<code>`. It feeds the answers of every channel and the generated `docs/errors.md`.
 */

import type { FieldError } from './sentences/field-error.ts'
import { inEnglish, type Sentence, SentenceError, sentence } from './sentences/sentence.ts'

/** How one refusal looks on each channel. `smtp` is the reply code with its enhanced code (RFC 3463). */
export interface Problem {
  http: number
  smtp?: `${number} ${number}.${number}.${number}`
  /** `code` in the envelope of the Subscription Administration API: HTTP status x 100 + n. */
  envelope?: number
}

/** All problems by their stable code. */
export const problems = {
  invalid_json: { http: 400, envelope: 40001 },
  invalid_request: { http: 400, envelope: 40002 },
  invalid_token: { http: 401 },
  not_logged_in: { http: 401, envelope: 40101 },
  invalid_login: { http: 401, smtp: '535 5.7.8', envelope: 40103 },
  second_factor_required: { http: 401, envelope: 40104 },
  invalid_code: { http: 401, envelope: 40105 },
  login_expired: { http: 401 },
  oidc_refused: { http: 403 },
  oidc_unavailable: { http: 503 },
  passkey_refused: { http: 401 },
  link_invalid: { http: 410 },
  csrf_header_missing: { http: 403, envelope: 40302 },
  insufficient_scope: { http: 403 },
  forbidden: { http: 403, envelope: 40301 },
  not_a_member: { http: 403 },
  domain_not_verified: { http: 403, smtp: '550 5.7.1' },
  sender_not_allowed: { http: 403, smtp: '550 5.7.1' },
  account_suspended: { http: 403, smtp: '535 5.7.8' },
  not_found: { http: 404, envelope: 40400 },
  method_not_allowed: { http: 405, envelope: 40501 },
  conflict: { http: 409 },
  account_switched: { http: 409 },
  too_many_domains: { http: 409 },
  managed_by_resource: { http: 409, envelope: 40907 },
  password_not_copyable: { http: 409 },
  idempotency_answer_lost: { http: 409, envelope: 40911 },
  idempotency_in_progress: { http: 409, envelope: 40906 },
  not_cancelable: { http: 409 },
  message_too_large: { http: 413, smtp: '552 5.3.4', envelope: 41301 },
  unsupported_media_type: { http: 415, envelope: 41501 },
  validation_failed: { http: 422, envelope: 42200 },
  tracking_off: { http: 422 },
  idempotency_key_reused: { http: 422, smtp: '554 5.7.1' },
  rate_limited: { http: 429, smtp: '451 4.7.1', envelope: 42901 },
  quota_exceeded: { http: 429, smtp: '452 4.7.1' },
  daily_quota_exceeded: { http: 429, smtp: '452 4.7.1' },
  internal: { http: 500, smtp: '451 4.3.0', envelope: 50000 },
  queue_unavailable: { http: 503, smtp: '451 4.3.0' },
  login_unavailable: { http: 503, smtp: '454 4.7.0' },
  too_many_clients: { http: 503, smtp: '421 4.7.0' },
  too_many_logins: { http: 429, smtp: '421 4.7.0' },
  too_slow: { http: 408, smtp: '421 4.4.2' },
  unavailable: { http: 503, smtp: '421 4.3.2', envelope: 50301 },
  authentication_required: { http: 401, smtp: '530 5.7.0' },
  network_not_allowed: { http: 403, smtp: '535 5.7.8' },
  null_sender_refused: { http: 422, smtp: '550 5.7.1' },
  unknown_parameter: { http: 422, smtp: '555 5.5.4' },
  bad_recipient: { http: 422, smtp: '553 5.1.3' },
  all_recipients_suppressed: { http: 422, smtp: '550 5.7.1' },
  bulk_without_unsubscribe: { http: 422, smtp: '550 5.7.1' },
  bulk_unauthenticated: { http: 429, smtp: '452 4.7.1' },
  too_many_recipients: { http: 422, smtp: '452 4.5.3' },
  bad_line_endings: { http: 422, smtp: '550 5.6.0' },
  bad_bytes: { http: 422, smtp: '550 5.6.0' },
  bad_header: { http: 422, smtp: '550 5.6.0' },
  too_many_authors: { http: 422, smtp: '550 5.6.0' },
  line_too_long: { http: 422, smtp: '550 5.6.0' },
  mail_loop: { http: 422, smtp: '554 5.4.6' },
  session_missing: { http: 401, envelope: 40101 },
  session_invalid: { http: 401, envelope: 40102 },
  app_credential_invalid: { http: 401, envelope: 40110 },
  app_signature_invalid: { http: 401, envelope: 40111 },
  admin_disabled: { http: 403, envelope: 40303 },
  app_disabled: { http: 403, envelope: 40310 },
  end_user_not_found: { http: 404, envelope: 40401 },
  plan_not_found: { http: 404, envelope: 40402 },
  subscription_not_found: { http: 404, envelope: 40403 },
  switch_not_found: { http: 404, envelope: 40404 },
  app_not_found: { http: 404, envelope: 40405 },
  record_not_found: { http: 404, envelope: 40406 },
  app_key_unknown: { http: 404, envelope: 40410 },
  name_taken: { http: 409, envelope: 40901 },
  version_conflict: { http: 409, envelope: 40902 },
  transition_refused: { http: 409, envelope: 40903 },
  app_in_use: { http: 409, envelope: 40904 },
  idempotency_key_mismatch: { http: 409, envelope: 40905 },
  payment_taken: { http: 409, envelope: 40908 },
  identities_conflict: { http: 409, envelope: 40909 },
  app_key_missing: { http: 422, envelope: 42210 },
  page_too_deep: { http: 422, envelope: 42220 },
  amount_mismatch: { http: 422, envelope: 42230 },
  login_locked: { http: 429, envelope: 42902 },
} as const satisfies Record<string, Problem>

/** The stable code of a problem. */
export type ProblemCode = keyof typeof problems

export type { FieldError }

/** The English title of a problem. */
export function problemTitle(code: ProblemCode): string {
  return inEnglish({ code: `problem.${code}` })
}

/** The refusal of fields: the detail names the first one. */
export function refuseFields(errors: readonly FieldError[]): ProblemError {
  const [first] = errors
  const detail =
    first &&
    (first.pointer
      ? sentence('detail.of_field', { field: first.pointer, reason: first.reason })
      : sentence('detail.of_request', { reason: first.reason }))
  return new ProblemError('validation_failed', detail, { errors })
}

/** Most errors of fields that a refusal lists. */
const MAX_ERRORS = 50

/** A refusal on its way to the client: the sentence is the exact reason, by default the title of the problem. Thrown by use cases and handlers, answered by the outermost layer. */
export class ProblemError extends SentenceError {
  readonly code: ProblemCode
  /** The same as `message`, under its name in answers. */
  readonly detail: string
  readonly errors: readonly FieldError[]
  /** Seconds to wait, for the header Retry-After. */
  readonly retryAfter: number | undefined
  /** With `second_factor_required`: what the second step of the login presents. */
  readonly challenge: string | undefined
  constructor(
    code: ProblemCode,
    detail: Sentence = sentence(`problem.${code}`),
    options: { errors?: readonly FieldError[]; retryAfter?: number; challenge?: string; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = this.message
    this.errors = (options.errors ?? []).slice(0, MAX_ERRORS)
    this.retryAfter = options.retryAfter
    this.challenge = options.challenge
  }
}
