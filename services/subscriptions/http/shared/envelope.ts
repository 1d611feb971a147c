/** The envelope `{code, message, data}`: every answer of this API, good or bad, has it. */

import { factsOf, toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { type ProblemCode, ProblemError, problems } from '../../../platform/problems.ts'
import type { Subscriptions } from '../../context.ts'
import { localise } from '../../rules/field-errors.ts'
import { LANGS, type Lang, langOf, say } from '../../rules/language.ts'

/** The language of the answer: the header `lang` decides, without it `Accept-Language` (RFC 9110), without both Chinese. */
export function langOfRequest(context: WebContext): Lang {
  const lang = context.get('lang').trim()
  return langOf(lang === '' ? context.acceptsLanguages(...LANGS) || '' : lang)
}

/** Answers with the envelope of success. */
export function answer(context: WebContext, successCode: number, data: unknown): void {
  context.body = { code: successCode, message: say('ok', langOfRequest(context)), data }
}

/** Turns everything that is thrown below into an envelope; stands outermost on the paths of this API. */
export function envelopeErrors(s: Pick<Subscriptions, 'log'>) {
  return async (context: WebContext, next: () => Promise<void>) => {
    const lang = langOfRequest(context)
    context.set('Content-Language', lang)
    context.set('X-Api-Version', '1')
    try {
      await next()
    } catch (error) {
      const problem = toProblem(error)
      if (problem.code === 'internal')
        s.log.error({ request: factsOf(context).requestId, err: error }, 'request failed')
      refuse(context, problem)
    }
  }
}

/** A refusal whose `data` says more than which fields are wrong. */
export class RefusalWithData extends ProblemError {
  readonly data: object
  constructor(code: ProblemCode, data: object) {
    super(code)
    this.data = data
  }
}

/** Answers with the envelope of a refusal. A problem without a code of its own here gets that of its HTTP status. */
export function refuse(context: WebContext, problem: ProblemError): void {
  const lang = langOfRequest(context)
  const entry: { http: number; envelope?: number; title: string; zh?: string } = problems[problem.code]
  context.status = entry.http
  if (problem.retryAfter !== undefined) context.set('Retry-After', String(problem.retryAfter))
  const errors = problem.faults.map(fault => localise(fault, lang))
  context.body = {
    code: entry.envelope ?? entry.http * 100,
    message: lang === 'zh' ? (entry.zh ?? entry.title) : problem.detail,
    data: problem instanceof RefusalWithData ? problem.data : errors.length > 0 ? { errors } : {},
  }
}
