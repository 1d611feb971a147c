/** One error type for error responses and network failures. */

/** Error of one field of a request: JSON pointer, code, English message. */
export interface FieldError {
  pointer: string
  code: string
  message: string
}

/** Error of a request. `status` is 0 if no response was received (offline, aborted, blocked). */
export class ApiProblem extends Error {
  readonly code: string
  readonly status: number
  readonly fieldErrors: readonly FieldError[]
  readonly requestId: string | undefined
  /** Seconds to wait, from Retry-After. */
  readonly retryAfter: number | undefined
  constructor(init: {
    code: string
    status: number
    detail: string
    fieldErrors?: readonly FieldError[]
    requestId?: string | undefined
    retryAfter?: number | undefined
  }) {
    super(init.detail)
    this.name = 'ApiProblem'
    this.code = init.code
    this.status = init.status
    this.fieldErrors = init.fieldErrors ?? []
    this.requestId = init.requestId
    this.retryAfter = init.retryAfter
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
    fieldErrors: Array.isArray(fields.errors) ? fields.errors.filter(isFieldError) : envelopeFieldErrors(fields.data),
    requestId: textOf(fields.request_id) ?? response.headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfter > 0 ? retryAfter : undefined,
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

function envelopeFieldErrors(data: unknown): FieldError[] {
  const errors = isRecord(data) && Array.isArray(data.errors) ? data.errors : []
  return errors.flatMap(error =>
    isRecord(error) && typeof error.message === 'string'
      ? [{ pointer: `/${textOf(error.field) ?? ''}`, code: textOf(error.rule) ?? '', message: error.message }]
      : [],
  )
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value.pointer === 'string' && typeof value.message === 'string'
}
