/** Answers in the format of Resend: plain `application/json`, which its SDKs for PHP and Python compare, never empty. */

import { factsOf, toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { problems } from '../../../platform/problems.ts'
import { ForeignError } from '../rules/foreign-error.ts'
import { refusalOf } from '../rules/refusal-of-problem.ts'

/** Answers JSON with the exact media type. */
export function answerJson(context: WebContext, status: number, body: object): void {
  context.status = status
  context.body = JSON.stringify(body)
  context.set('Content-Type', 'application/json')
}

/** Middleware that answers everything that is thrown as `{statusCode, name, message}`. */
export function foreignErrors(log: Log) {
  return async (context: WebContext, next: () => Promise<void>): Promise<void> => {
    try {
      await next()
    } catch (error) {
      answerError(context, error, log)
    }
  }
}

function answerError(context: WebContext, error: unknown, log: Log): void {
  const { status, name, message, retryAfter } = errorOf(error, cause =>
    log.error({ request: factsOf(context).requestId, err: cause }, 'request failed'),
  )
  if (retryAfter !== undefined) context.set('Retry-After', String(retryAfter))
  if (status === 401) context.set('WWW-Authenticate', 'Bearer')
  answerJson(context, status, { statusCode: status, name, message })
}

/** What is answered to an error; `report` is called for one of ours. */
export function errorOf(error: unknown, report: (error: unknown) => void) {
  if (error instanceof ForeignError)
    return { ...error.refusal, message: error.message, retryAfter: error.refusal.status === 503 ? 5 : undefined }
  const problem = toProblem(error)
  if (problem.code === 'internal') report(error)
  const { code, sentence, errors, detail: message, retryAfter } = problem
  return { ...refusalOf({ code, http: problems[code].http, sentence, errors }), message, retryAfter }
}
