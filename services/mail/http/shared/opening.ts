/** Joins operations with bodies so that the caller is known and within the rate before a body is read. */
import type Router from '@koa/router'
import { type BodyRoom, readInPlace } from '../../../platform/http/body-room.ts'
import type { AnyEndpoint } from '../../../platform/http/endpoint.ts'
import { readJson } from '../../../platform/http/json-body.ts'
import { type Authorise, bind, type WebContext } from '../../../platform/http/web-app.ts'
import type { Access } from './access.ts'
import type { Principal } from './authorise.ts'
import { decodeLargeContent, LARGE_TEXT_BYTES } from './large-content.ts'
import type { TakeRequest } from './rate-limit.ts'

/** Members of one object in a large body: five times what a message, its headers or its metadata have. */
const MAX_MEMBERS = 256

/** Dependencies of an opening. */
export interface OpeningDeps {
  authorise: Authorise<Access, Principal>
  take: TakeRequest
  /** Largest body, in bytes. */
  bodyBytes: number
  /** Where bodies are large. */
  room?: BodyRoom
}

/** The function that joins: strangers must not make the process hold megabytes. */
export function opening(router: Router, { authorise, take, bodyBytes, room }: OpeningDeps) {
  const limited: Authorise<Access, Principal> = async (context, access) => {
    const principal = await authorise(context, access)
    await take(context, principal.account.id)
    return principal
  }
  const read = (context: WebContext, principal: Principal) => {
    const place = room?.(principal.account.id, context.headers['content-encoding'])
    return readInPlace(context, place, async ({ count }) => {
      await readJson(context, { bytes: bodyBytes, text: LARGE_TEXT_BYTES, members: MAX_MEMBERS, count })
      await decodeLargeContent(context.request.body)
    })
  }
  return <E extends AnyEndpoint<Access>>(
    definition: E,
    handle: Parameters<typeof bind<Access, Principal, E>>[3],
  ): void => bind(router, limited, definition, handle, { readBody: definition.body && read })
}
