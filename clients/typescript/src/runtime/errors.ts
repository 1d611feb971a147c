/** The one error of all operations. */
import type { ErrorCode } from '../generated/error-codes.ts'

/** Codes of an {@link PostwrightError} that has no answer of the API. */
type TransportCode = 'network_error' | 'timeout' | 'redirected' | 'invalid_answer'

/** A stable code; later releases of the service may have more. */
export type PostwrightErrorCode = ErrorCode | TransportCode | (string & Record<never, never>)

/** An error of one field of the request. */
export interface FieldProblem {
  /** JSON pointer, as in `/to/0`; the name of the field in the Subscription Administration API. */
  field: string
  code: string
  message: string
}

/** What is known of a failed request. */
export interface ErrorDetails {
  status: number
  code: PostwrightErrorCode
  problems?: readonly FieldProblem[]
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  body?: unknown
  cause?: unknown
}

/** A refusal of the API, or a request that got no usable answer. */
export class PostwrightError extends Error {
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /**
   * Stable code, as in `validation_failed` (docs/errors.md); the number of the envelope as text (`40410`) in the
   * Subscription Administration API. Without an answer of the API: `network_error`, `timeout`, `redirected`,
   * `invalid_answer` or `http_<status>`.
   */
  readonly code: PostwrightErrorCode
  /** Errors of fields; empty when the refusal is about none. */
  readonly problems: readonly FieldProblem[]
  /** Id of the request in the logs of the service. */
  readonly requestId: string | undefined
  /** The wait that the answer asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The answer as parsed JSON, or its text. */
  readonly body: unknown

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PostwrightError'
    this.status = details.status
    this.code = details.code
    this.problems = details.problems ?? []
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
    this.body = details.body
  }
}

/** Reads a refusal: RFC 9457, the envelope of the Subscription Administration API, or that of OFREP. */
export async function errorOf(response: Response): Promise<PostwrightError> {
  const { status, headers } = response
  const text = await response.text().catch(() => '')
  const body = parsed(text)
  const fields = isObject(body) ? body : {}
  const code = fields.code ?? fields.errorCode
  const message = [fields.detail, fields.message, fields.errorDetails].find(one => typeof one === 'string' && one)
  return new PostwrightError(String(message ?? `The server answered ${status} without a reason.`), {
    status,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : `http_${status}`,
    problems: problemsOf(fields),
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(headers.get('retry-after')),
    body: body ?? text,
  })
}

function problemsOf(fields: Record<string, unknown>): FieldProblem[] {
  const list = fields.errors ?? (isObject(fields.data) ? fields.data.errors : undefined)
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map(({ pointer, field, code, message }) => ({
    field: String(pointer ?? field ?? ''),
    code: String(code ?? ''),
    message: String(message ?? ''),
  }))
}

/** Seconds or an HTTP date, as milliseconds from now. */
function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
