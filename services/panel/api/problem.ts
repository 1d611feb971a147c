/** One error type for error responses and network failures. */

/** Error of one field of a request. */
export interface FieldError {
  /** JSON pointer into the body. */
  pointer: string
  /** In English, or without a code in the language of the request. */
  message: string
  /** The message as code and parameters. */
  sentence?: { code: string; params: object } | undefined
}

/** Error of a request. `status` is 0 if no response was received (offline, aborted, blocked). */
export class ApiProblem extends Error {
  readonly code: string
  readonly status: number
  /** English text of `code`; empty if the answer has none. */
  readonly title: string
  /** Code and parameters of the message. */
  readonly detail: { code: string; params: object } | undefined
  readonly fieldErrors: readonly FieldError[]
  readonly requestId: string | undefined
  /** Seconds to wait, from Retry-After. */
  readonly retryAfter: number | undefined
  /** What the second step of a login presents, with code `second_factor_required`. */
  readonly challenge: string | undefined
  constructor(init: {
    code: string
    status: number
    detail: string
    title?: string | undefined
    detailCode?: { code: string; params: object } | undefined
    fieldErrors?: readonly FieldError[]
    requestId?: string | undefined
    retryAfter?: number | undefined
    challenge?: string | undefined
  }) {
    super(init.detail)
    this.name = 'ApiProblem'
    this.code = init.code
    this.status = init.status
    this.title = init.title ?? ''
    this.detail = init.detailCode
    this.fieldErrors = init.fieldErrors ?? []
    this.requestId = init.requestId
    this.retryAfter = init.retryAfter
    this.challenge = init.challenge
  }
}

export function unreachable(error: unknown): ApiProblem {
  return new ApiProblem({ code: 'offline', status: 0, detail: error instanceof Error ? error.message : String(error) })
}

/** Parses a problem document (RFC 9457) or an error envelope; other bodies keep only the status. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body: unknown = await response.json().catch(() => undefined)
  const fields = isRecord(body) ? body : {}
  const retryAfter = Number(response.headers.get('retry-after'))
  return new ApiProblem({
    code: codeOf(fields.code, response.status),
    status: response.status,
    detail: textOf(fields.detail) ?? textOf(fields.message) ?? response.statusText,
    title: textOf(fields.title),
    detailCode: detailOf(fields),
    fieldErrors: Array.isArray(fields.errors)
      ? fieldErrorsOf(fields.errors, fields.errors_codes)
      : envelopeFieldErrors(fields.data),
    requestId: textOf(fields.request_id) ?? response.headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfter > 0 ? retryAfter : undefined,
    challenge: textOf(fields.challenge),
  })
}

/** True for errors that may be transient: no response, or status 5xx. */
export function mayRetry(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status >= 500)
}

/** String code of the mail API, numeric code of the Subscription Administration API, or a default by status. */
function codeOf(code: unknown, status: number): string {
  if (typeof code === 'number' && code > 999) return String(code)
  return textOf(code) ?? (status >= 500 ? 'unavailable' : 'internal')
}

/** The errors with the sentences beside them, which are in the same order. */
function fieldErrorsOf(errors: readonly unknown[], codes: unknown): FieldError[] {
  return errors.flatMap((error, index) => {
    if (!isRecord(error) || typeof error.pointer !== 'string' || typeof error.message !== 'string') return []
    const given: unknown = Array.isArray(codes) ? codes[index] : undefined
    const code = isRecord(given) ? textOf(given.code) : undefined
    const params = isRecord(given) && isRecord(given.params) ? given.params : {}
    return [{ pointer: error.pointer, message: error.message, ...(code && { sentence: { code, params } }) }]
  })
}

/** Their messages are in the language of the panel already. */
function envelopeFieldErrors(data: unknown): FieldError[] {
  const errors = isRecord(data) && Array.isArray(data.errors) ? data.errors : []
  return errors.flatMap(error =>
    isRecord(error) && typeof error.message === 'string'
      ? [{ pointer: `/${textOf(error.field) ?? ''}`, message: error.message }]
      : [],
  )
}

function detailOf({ detail_code, detail_params }: Record<string, unknown>) {
  const code = textOf(detail_code)
  return code ? { code, params: isRecord(detail_params) ? detail_params : {} } : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
