/** Joins operations with bodies so that the caller is known and within the rate before a body is read. */
import type Router from '@koa/router'
import type { AnyEndpoint } from '../../platform/endpoint.ts'
import { ProblemError } from '../../platform/problems.ts'
import { type Authorise, bind, jsonBody, type WebContext } from '../../platform/web.ts'
import type { Access } from './access.ts'
import type { Principal } from './authorise.ts'
import type { BodyRoom } from './body-room.ts'
import type { TakeRequest } from './rate-limit.ts'

/** What joining needs. */
export interface OpeningDeps {
  authorise: Authorise<Access, Principal>
  take: TakeRequest
  /** Largest body, as in `2mb`. */
  bodyLimit: string
  /** Where bodies are large. */
  room?: BodyRoom
}

/** The function that joins: strangers must not make the process hold megabytes. */
export function opening(router: Router, { authorise, take, bodyLimit, room }: OpeningDeps) {
  const parseBody = jsonBody(bodyLimit)
  const authorised = (context: WebContext) => Promise.resolve(context.state.principal as Principal)
  return <E extends AnyEndpoint<Access>>(
    definition: E,
    handle: Parameters<typeof bind<Access, Principal, E>>[3],
  ): void => {
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(path, [definition.method.toLowerCase()], async (context: WebContext, next) => {
      context.state.route = definition.path
      const principal = await authorise(context, definition.access)
      context.state.principal = principal
      await take(context, principal.account.id)
      const read = () => parseBody(context, next)
      if (!room) return read()
      return room(context.req, principal.account.id, read).catch((error: unknown) => {
        if (!context.req.readableEnded && leavesRest(error)) context.set('Connection', 'close')
        throw error
      })
    })
    bind(router, authorised, definition, handle)
  }
}

/** True for what is refused amid its body, whose rest nobody reads. */
function leavesRest(error: unknown): boolean {
  return error instanceof ProblemError && (error.code === 'unavailable' || error.code === 'message_too_large')
}
