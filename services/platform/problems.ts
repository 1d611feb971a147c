/**
 * The one register of what can be refused: HTTP status, SMTP reply and the sentence that says it. It feeds the
 * answers of every channel and the generated `docs/errors.md`.
 */

/** How one refusal looks on each channel. `smtp` is the reply code with its enhanced code (RFC 3463). */
export interface Problem {
  http: number
  smtp?: `${number} ${number}.${number}.${number}`
  title: string
}

/** All problems by their stable code. */
export const problems = {
  invalid_json: { http: 400, title: 'The body is not valid JSON.' },
  invalid_request: { http: 400, title: 'The request cannot be understood.' },
  invalid_token: { http: 401, title: 'The token is missing, unknown, expired or revoked.' },
  not_logged_in: { http: 401, title: 'Log in first.' },
  invalid_login: { http: 401, smtp: '535 5.7.8', title: 'Wrong user name or password.' },
  csrf_header_missing: { http: 403, title: 'Writes by session need the header x-csrf.' },
  insufficient_scope: { http: 403, title: 'The token lacks the scope for this.' },
  forbidden: { http: 403, title: 'Your role does not allow this.' },
  domain_not_verified: { http: 403, smtp: '550 5.7.1', title: 'The sender domain is not verified yet.' },
  sender_not_allowed: { http: 403, smtp: '550 5.7.1', title: 'You may send only from your own domains.' },
  account_suspended: { http: 403, smtp: '535 5.7.8', title: 'The account is suspended.' },
  not_found: { http: 404, title: 'There is no such thing here.' },
  method_not_allowed: { http: 405, title: 'The address does not know this method.' },
  conflict: { http: 409, title: 'This conflicts with what exists.' },
  managed_by_resource: { http: 409, title: 'A Kubernetes resource manages this record; change it there.' },
  password_not_copyable: {
    http: 409,
    title: 'Only a hash of the password is stored; set the password again to copy it.',
  },
  idempotency_in_progress: { http: 409, title: 'A request with this idempotency key is still running.' },
  not_cancelable: { http: 409, title: 'Nothing of this message can be canceled any more.' },
  message_too_large: { http: 413, smtp: '552 5.3.4', title: 'The message is too large.' },
  unsupported_media_type: { http: 415, title: 'Send JSON with Content-Type: application/json.' },
  validation_failed: { http: 422, title: 'Some fields are not valid.' },
  unsupported_field: { http: 422, title: 'A field is not supported yet.' },
  idempotency_key_reused: { http: 422, title: 'This idempotency key was used with another body.' },
  rate_limited: { http: 429, smtp: '451 4.7.1', title: 'Too many requests; try again later.' },
  quota_exceeded: { http: 429, smtp: '452 4.7.1', title: 'The hourly limit is used up; try again later.' },
  internal: { http: 500, smtp: '451 4.3.0', title: 'Something went wrong on our side.' },
  queue_unavailable: { http: 503, smtp: '451 4.3.0', title: 'The queue cannot take the message now; try again later.' },
  unavailable: { http: 503, smtp: '421 4.3.2', title: 'The service is not available now; try again later.' },
  authentication_required: { http: 401, smtp: '530 5.7.0', title: 'Authentication required.' },
  network_not_allowed: { http: 403, smtp: '535 5.7.8', title: 'This login may not be used from your network.' },
  null_sender_refused: { http: 422, smtp: '550 5.7.1', title: 'An empty envelope sender cannot be submitted.' },
  bad_recipient: { http: 422, smtp: '553 5.1.3', title: 'The recipient address is not valid.' },
  too_many_recipients: { http: 422, smtp: '452 4.5.3', title: 'Too many recipients in one message.' },
  bad_line_endings: {
    http: 422,
    smtp: '550 5.6.0',
    title: 'The message has a bare CR or LF; lines end in CRLF (RFC 5321 2.3.8).',
  },
  bad_header: { http: 422, smtp: '550 5.6.0', title: 'The header is not valid.' },
  line_too_long: { http: 422, smtp: '550 5.6.0', title: 'A line has more than 998 characters (RFC 5322 2.1.1).' },
  mail_loop: { http: 422, smtp: '554 5.4.6', title: 'Too many Received headers: the message loops.' },
} as const satisfies Record<string, Problem>

/** The stable code of a problem. */
export type ProblemCode = keyof typeof problems

/** A fault of one field: a JSON pointer (RFC 6901), a code and a sentence. */
export interface FieldFault {
  pointer: string
  code: string
  message: string
}

/** A refusal on its way to the client. Thrown by use cases and handlers, answered by the outermost layer. */
export class ProblemError extends Error {
  readonly code: ProblemCode
  readonly detail: string
  readonly faults: readonly FieldFault[]
  /** Seconds to wait, for the header Retry-After. */
  readonly retryAfter: number | undefined
  constructor(
    code: ProblemCode,
    detail?: string,
    options: { faults?: readonly FieldFault[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(detail ?? problems[code].title, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ProblemError'
    this.code = code
    this.detail = detail ?? problems[code].title
    this.faults = options.faults ?? []
    this.retryAfter = options.retryAfter
  }
}
