/** Joins addresses of the other service with their translations: caller and rate first, then the body. */
import { type BodyRoom, readInPlace } from '../../../platform/http/body-room.ts'
import type { AnyEndpoint } from '../../../platform/http/endpoint.ts'
import { readJson } from '../../../platform/http/json-body.ts'
import type { Authorise, createRouter, WebContext } from '../../../platform/http/web-app.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { LARGE_TEXT_BYTES } from '../../http/shared/large-content.ts'
import type { CallOwn, OwnAnswer, OwnInput } from '../../http/shared/own-operations.ts'
import type { TakeRequest } from '../../http/shared/rate-limit.ts'
import { ForeignError } from '../rules/foreign-error.ts'
import { answerJson } from './answer.ts'

type Router = ReturnType<typeof createRouter>

/** Members of one object in a large body, as in the own API. */
const MAX_MEMBERS = 256
/** Lists of more integers that are all octets are bytes. */
const FEW_OCTETS = 1_024

/** Dependencies of all translations. */
export interface ForeignDeps {
  router: Router
  own: CallOwn
  authorise: Authorise<Access, Principal>
  /** The same with the rate of requests that do not send. */
  authoriseRated: Authorise<Access, Principal>
  /** The rate of requests that send, by account. */
  takeSend: TakeRequest
  /** Largest body, in bytes. */
  bodyBytes: number
  room: BodyRoom
}

/** A request on its way through a translation. */
export interface ForeignRequest {
  context: WebContext
  principal: Principal
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, unknown>>
  body: unknown
  own<E extends AnyEndpoint<Access>>(operation: E, input?: OwnInput): Promise<OwnAnswer<E>>
}

/** An address and its translation. */
export interface ForeignRoute {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With parameters as the router has them, as in `/emails/:id`. */
  path: string
  /** The operation that decides who may call it. */
  operation: AnyEndpoint<Access>
  /** Counts against the rate of sends. */
  sends?: boolean
  status?: number
  handle(request: ForeignRequest): Promise<object>
}

/** Puts routes on the router. */
export function addForeignRoutes(deps: ForeignDeps, routes: readonly ForeignRoute[]): void {
  for (const { method, path, status = 200, ...route } of routes)
    deps.router.register(path, [method.toLowerCase()], async (context: WebContext) => {
      context.state.route = path
      const principal = await admit(context, route, deps)
      const release = method === 'GET' ? undefined : await readForeignBody(context, principal, deps)
      try {
        const own: ForeignRequest['own'] = (operation, input) => deps.own(context, operation, input)
        const params = context.params as Readonly<Record<string, string>>
        const request = { context, principal, params, query: context.query, body: context.request.body ?? {}, own }
        answerJson(context, status, await route.handle(request))
      } finally {
        release?.()
      }
    })
}

/** Throws what the caller may not do, before anything of the body is read. */
export async function admit(
  context: WebContext,
  { operation, sends = false }: Pick<ForeignRoute, 'operation' | 'sends'>,
  { authorise, authoriseRated, takeSend }: ForeignDeps,
): Promise<Principal> {
  requireKey(context)
  if (!sends) return authoriseRated(context, operation.access)
  const principal = await authorise(context, operation.access)
  await takeSend(context, principal.account.id)
  return principal
}

/** Sessions of browsers do not count here: without a key the cookie would. */
function requireKey(context: WebContext): void {
  if (context.get('authorization') === '')
    throw new ForeignError(401, 'missing_api_key', sentence('compat.key_missing'))
}

/** Reads JSON within the room; returns a function that releases it. */
export function readForeignBody(
  context: WebContext,
  principal: Principal,
  { room, bodyBytes: bytes }: Pick<ForeignDeps, 'room' | 'bodyBytes'>,
): Promise<(() => void) | undefined> {
  const place = room(principal.account.id, context.headers['content-encoding'])
  return readInPlace(context, place, ({ count }) =>
    readJson(context, { bytes, text: LARGE_TEXT_BYTES, members: MAX_MEMBERS, octets: FEW_OCTETS, count }),
  )
}
