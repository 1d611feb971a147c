/**
 * The operations of the own API as functions: what is translated into one of them is validated, limited, audited and
 * answered there, so that the caller has no rules of its own.
 */
import type { z } from 'zod'
import type { AnyEndpoint } from '../../../platform/http/endpoint.ts'
import type { createRouter, WebContext } from '../../../platform/http/web-app.ts'
import type { Access } from './access.ts'

type Router = ReturnType<typeof createRouter>

/** The translated parts of a request. */
export interface OwnInput {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

/** What an operation answers; bytes for one without a JSON answer. */
export type OwnAnswer<E> = E extends { response: infer R } ? (R extends z.ZodType ? z.input<R> : Buffer) : never

/** Runs an operation with the caller of the request and returns its answer. Throws its refusals. */
export type CallOwn = <E extends AnyEndpoint<Access>>(
  context: WebContext,
  operation: E,
  input?: OwnInput,
) => Promise<OwnAnswer<E>>

/** Headers of an answer of the own API that are about its own addresses and contents. */
const OWN_HEADERS = ['Location', 'Content-Disposition', 'Content-Type', 'Content-Length']

/** Calls operations that were put on this router. */
export function ownOperations(router: Router): CallOwn {
  return async (context, operation, input = {}) => {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const layer = router.stack.find(one => one.path === path && one.methods.includes(operation.method))
    const handler = layer?.stack.at(-1)
    if (!handler) throw new Error(`the operation ${operation.operationId} is not mounted`)
    const { route } = context.state
    await handler(innerContext(context, input) as Parameters<typeof handler>[0], () => Promise.resolve())
    const answer = context.body as OwnAnswer<typeof operation>
    context.body = null
    for (const name of OWN_HEADERS) context.remove(name)
    context.state.route = route
    return answer
  }
}

/** The context of the request with other parameters, query and body; what the operation answers is in both. */
function innerContext(context: WebContext, { params = {}, query = {}, body = {} }: OwnInput): WebContext {
  const request = Object.create(context.request, { body: { value: body, writable: true } }) as WebContext['request']
  return Object.create(context, {
    params: { value: params },
    query: { value: query },
    request: { value: request },
  }) as WebContext
}
