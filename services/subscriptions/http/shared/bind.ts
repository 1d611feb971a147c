/** Binds an operation to its handler: rate, credential, rights, app, fields, idempotency, envelope. */
import type Router from '@koa/router'
import type { AnyEndpoint, EndpointInput, EndpointResult } from '../../../platform/http/endpoint.ts'
import { readJson } from '../../../platform/http/json-body.ts'
import { type BindHooks, bind, factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { MaySendFrom } from '../../catalogue/manage-apps.ts'
import { findApp, liveAppKeys } from '../../catalogue/store/apps.ts'
import type { Actor, Claim, Subscriptions } from '../../context.ts'
import { isKnownToken } from '../../people/manage-admins.ts'
import { covers, may, scopeOf } from '../../people/rules/admin-rights.ts'
import { fieldErrorsOf } from '../../rules/field-errors.ts'
import type { Lang } from '../../rules/language.ts'
import type { AdminDoc, AppDoc } from '../../store/models.ts'
import type { Access } from './access.ts'
import type { AppAuthenticator } from './authenticate-app.ts'
import { answer, langOfRequest } from './envelope.ts'
import { once } from './idempotency.ts'
import type { Rates } from './rate-limits.ts'

/** Finds the administrator of a request; the token is what `GET /token` echoes. */
export type Authenticate = (context: WebContext) => Promise<{ admin: AdminDoc; token: string }>

/** Dependencies of the operations. */
export interface HttpDeps {
  subscriptions: Subscriptions
  rates: Rates
  authenticate: Authenticate
  appAuthenticator: AppAuthenticator
  maySendFrom: MaySendFrom
}

/** Request data that every handler receives. */
export interface Call {
  actor: Actor
  lang: Lang
  context: WebContext
}

/** A request of an administrator. */
export interface AdminCall extends Call {
  admin: AdminDoc
  token: string
  /** The selected app; empty where the operation needs none. */
  appKey: string
  /** The apps that the response covers: the selected one, or all in scope. */
  appKeys: readonly string[]
}

/** A request of an app's back end. */
export interface AppCall extends Call {
  app: AppDoc
}

/** Returns the content of `data`; undefined when it has sent the response itself. */
type Handle<E, C> = (input: EndpointInput<E>, call: C) => EndpointResult<E, undefined>

/** Default body limit in bytes: the longest texts of a plan, fully escaped. */
const BODY_BYTES = 128 * 1024
const WRITES = new Set(['POST', 'PUT'])

type ReadBody<C> = (context: WebContext, call: C) => Promise<(() => void) | undefined>

/** Reads the body of an operation, if it has one. */
function readerOf({ body, bodyBytes: bytes = BODY_BYTES }: AnyEndpoint<Access>) {
  return async (context: WebContext): Promise<undefined> => {
    if (body) await readJson(context, { bytes })
  }
}

/** Hooks that all operations of this API share; unknown fields are dropped. */
function hooksOf<C>(subscriptions: Subscriptions, readBody: ReadBody<C>): BindHooks<C> {
  return {
    readBody,
    emptyIsAbsent: true,
    refuseFields: ({ issues }) => new ProblemError('validation_failed', undefined, { errors: fieldErrorsOf(issues) }),
    answer: (context, data) => answer(context, subscriptions.config.SUCCESS_CODE, data),
  }
}

/** Runs the writes of a caller once per idempotency key. */
function runOnce<C extends Call>(subscriptions: Subscriptions, { method }: AnyEndpoint, nameOf: (call: C) => string) {
  return (context: WebContext, call: C, work: (call: C) => Promise<void>): Promise<void> =>
    WRITES.has(method) ? once(subscriptions, context, nameOf(call), claim => work(claimed(call, claim))) : work(call)
}

/**
 * The caller whose requests are counted, before any lookup: a session cached in this process, else the address. The
 * first request of a session, and every one with a forged token, counts for the address.
 */
function callerOf(subscriptions: Subscriptions, context: WebContext): string {
  const token = context.get('token')
  return isKnownToken(subscriptions, token) ? token : clientNetwork(factsOf(context).ip)
}

/** The call of a request that has an idempotency key. */
function claimed<C extends Call>(call: C, claim: Claim | undefined): C {
  return claim ? { ...call, actor: { ...call.actor, claim } } : call
}

/** Binds an operation of administrators; `readBody` reads a body other than JSON, as `rawBody`. */
export function bindAdmin<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, AdminCall>,
  readBody: ReadBody<AdminCall> = readerOf(definition),
): void {
  const { subscriptions } = deps
  const authorise = async (context: WebContext, access: Access): Promise<AdminCall> => {
    deps.rates.admin(callerOf(subscriptions, context))
    const { admin, token } = await deps.authenticate(context)
    const call = callOf(context, { kind: 'admin', id: String(admin._id), name: admin.username })
    const apps = await selectApps(subscriptions, context, access, admin)
    if (access.kind === 'admin' && !may(admin, access.right)) throw new ProblemError('forbidden')
    return { ...call, admin, token, ...apps }
  }
  const run = runOnce<AdminCall>(subscriptions, definition, ({ admin }) => `admin/${admin._id}`)
  bind<Access, AdminCall, E, undefined>(router, authorise, definition, handle, {
    ...hooksOf(subscriptions, readBody),
    run,
  })
}

/**
 * Binds an operation of an app's back end. The body of a signed request is read before the signature is checked,
 * because it is covered.
 */
export function bindApp<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, AppCall>,
): void {
  const readBody = readerOf(definition)
  const authorise = async (context: WebContext): Promise<AppCall> => {
    const { app, credential } = await deps.appAuthenticator.enter(context, () => readBody(context))
    deps.rates.server(credential._id)
    return { ...callOf(context, { kind: 'app', id: credential._id, name: app.app_key }), app }
  }
  const run = runOnce<AppCall>(deps.subscriptions, definition, ({ actor }) => `app/${actor.id}`)
  bind<Access, AppCall, E, undefined>(router, authorise, definition, handle, {
    ...hooksOf(deps.subscriptions, readBody),
    run,
  })
}

/** Binds an operation that needs no authentication. */
export function bindOpen<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, Call>,
): void {
  const authorise = async (context: WebContext): Promise<Call> => {
    deps.rates.login(clientNetwork(factsOf(context).ip))
    return callOf(context, { kind: 'admin', id: '', name: '' })
  }
  bind<Access, Call, E, undefined>(
    router,
    authorise,
    definition,
    handle,
    hooksOf(deps.subscriptions, readerOf(definition)),
  )
}

function callOf(context: WebContext, who: Pick<Actor, 'kind' | 'id' | 'name'>): Call {
  const { requestId, ip } = factsOf(context)
  return { actor: { ...who, requestId, ip }, lang: langOfRequest(context), context }
}

/** The apps of the request. An unknown app and one outside the scope return the same error. */
async function selectApps(
  subscriptions: Subscriptions,
  context: WebContext,
  access: Access,
  admin: AdminDoc,
): Promise<{ appKey: string; appKeys: readonly string[] }> {
  if (access.kind !== 'admin' || access.app === 'ignored') return { appKey: '', appKeys: [] }
  const given = context.query.app_key
  if (given === undefined || given === '') {
    if (access.app === 'required') throw new ProblemError('app_key_missing')
    const live = await liveAppKeys(subscriptions.collections)
    return { appKey: '', appKeys: live.filter(key => covers(admin, key)) }
  }
  const known = typeof given === 'string' && covers(admin, given)
  const app = known
    ? await subscriptions.memory.apps.get(given, () => findApp(subscriptions.collections, given))
    : undefined
  if (!app) throw new ProblemError('app_key_unknown')
  return { appKey: app.app_key, appKeys: [app.app_key] }
}

/** Throws `app_not_found` for an app outside the scope. */
export function assertInScope(admin: AdminDoc, appKey: string): void {
  const scope = scopeOf(admin)
  if (scope && !scope.includes(appKey)) throw new ProblemError('app_not_found')
}
