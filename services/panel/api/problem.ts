/** A refusal of the service, or its silence, as one kind of error for the whole app. */

/** A fault of one field: JSON pointer, code, English sentence. */
export interface FieldError {
  pointer: string
  code: string
  message: string
}

/** What went wrong with a request. `status` 0 means that no answer came (offline, cut, blocked). */
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

/** Nothing came back: no network, or the service is away. */
export function unreachable(error: unknown): ApiProblem {
  return new ApiProblem({ code: 'offline', status: 0, detail: error instanceof Error ? error.message : String(error) })
}

/** Reads a problem document (RFC 9457) or a refusing envelope; an answer that is neither keeps its status. */
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

/** True when asking again may help: no answer, or a fault of the service. */
export function mayRetry(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status >= 500)
}

/** A word of the mail API, a number of the Subscription Administration API, or a guess by status. */
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
