/** The envelope `{code, message, data}` of all responses of this API. */

import { factsOf, toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { type Problem, type ProblemCode, ProblemError, problems } from '../../../platform/problems.ts'
import type { Subscriptions } from '../../context.ts'
import { localise } from '../../rules/field-errors.ts'
import { LANGS, type Lang, langOf, renderIn, translate } from '../../rules/language.ts'

/** The language of the response: the header `lang`, else `Accept-Language` (RFC 9110), else Chinese. */
export function langOfRequest(context: WebContext): Lang {
  const lang = context.get('lang').trim()
  return langOf(lang === '' ? context.acceptsLanguages(...LANGS) || '' : lang)
}

/** Sends the envelope of success. */
export function answer(context: WebContext, successCode: number, data: unknown): void {
  context.body = { code: successCode, message: translate('ok', langOfRequest(context)), data }
}

/** Converts all errors thrown below to envelopes; the outermost middleware of this API. */
export function envelopeErrors(subscriptions: Pick<Subscriptions, 'log'>) {
  return async (context: WebContext, next: () => Promise<void>) => {
    const lang = langOfRequest(context)
    context.set('Content-Language', lang)
    context.set('X-Api-Version', '1')
    try {
      await next()
    } catch (error) {
      const problem = toProblem(error)
      if (problem.code === 'internal')
        subscriptions.log.error({ request: factsOf(context).requestId, err: error }, 'request failed')
      refuse(context, problem)
    }
  }
}

/** A refusal whose `data` contains more than the list of invalid fields. */
export class RefusalWithData extends ProblemError {
  readonly data: object
  constructor(code: ProblemCode, data: object) {
    super(code)
    this.data = data
  }
}

/** Sends the envelope of a refusal. A problem without an envelope code gets that of its HTTP status. */
export function refuse(context: WebContext, problem: ProblemError): void {
  const lang = langOfRequest(context)
  const entry: Problem = problems[problem.code]
  context.status = entry.http
  if (problem.retryAfter !== undefined) context.set('Retry-After', String(problem.retryAfter))
  const errors = problem.errors.map(error => localise(error, lang))
  context.body = {
    code: entry.envelope ?? entry.http * 100,
    message: renderIn(lang, problem.sentence),
    data: problem instanceof RefusalWithData ? problem.data : errors.length > 0 ? { errors } : {},
  }
}
