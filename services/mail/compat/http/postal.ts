/** The one address of Postal that applications send with, as the Postal backend of Django anymail. */
import type { WebContext } from '../../../platform/http/web-app.ts'
import { factsOf } from '../../../platform/http/web-app.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { sendEmail } from '../../submission/http/send-contract.ts'
import { postalAnswer, postalCode, postalStatus, postalToOwnEmail } from '../rules/postal.ts'
import { answerJson, errorOf } from './answer.ts'
import { admit, type ForeignDeps, readForeignBody } from './foreign-routes.ts'

const PATH = '/api/v1/send/message'

/** Adds the address. */
export function addPostalRoute(deps: ForeignDeps & { log: Log }): void {
  deps.router.register(PATH, ['post'], async (context: WebContext) => {
    context.state.route = PATH
    const started = performance.now()
    const answer = (httpStatus: number, status: string, data: object) =>
      answerJson(context, httpStatus, { status, time: (performance.now() - started) / 1000, flags: {}, data })
    try {
      answer(200, 'success', await send(context, deps))
    } catch (error) {
      const { status, name, message, retryAfter } = errorOf(error, cause =>
        deps.log.error({ request: factsOf(context).requestId, err: cause }, 'request failed'),
      )
      if (retryAfter !== undefined) context.set('Retry-After', String(retryAfter))
      answer(postalStatus({ status, name }), 'error', { code: postalCode({ status, name }), message })
    }
  })
}

async function send(context: WebContext, deps: ForeignDeps): Promise<object> {
  const key = context.get('x-server-api-key')
  // The key of Postal is a token here, and comes in a header of its own.
  if (key !== '') context.req.headers.authorization = `Bearer ${key}`
  const principal = await admit(context, { operation: sendEmail, sends: true }, deps)
  const release = await readForeignBody(context, principal, deps)
  try {
    return postalAnswer(await deps.own(context, sendEmail, { body: postalToOwnEmail(context.request.body) }))
  } finally {
    release?.()
  }
}
