/** Joins an operation to its handler: rate, credential, rights, app, fields, idempotency, envelope. */
import type Router from '@koa/router'
import type { z } from 'zod'
import type { AnyEndpoint, EndpointInput } from '../../../platform/http/endpoint.ts'
import { readJson } from '../../../platform/http/json-body.ts'
import { factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { MaySendFrom } from '../../catalogue/manage-apps.ts'
import { findApp, liveAppKeys } from '../../catalogue/store/apps.ts'
import type { Actor, Claim, Subscriptions } from '../../context.ts'
import { isKnownToken } from '../../people/manage-admins.ts'
import { covers, may, scopeOf } from '../../people/rules/admin-rights.ts'
import { faultsOf } from '../../rules/field-errors.ts'
import type { Lang } from '../../rules/language.ts'
import type { AdminDoc, AppDoc } from '../../store/documents.ts'
import type { Access } from './access.ts'
import type { AppDoor } from './authenticate-app.ts'
import { answer, langOfRequest } from './envelope.ts'
import { once } from './idempotency.ts'
import type { Rates } from './rate-limits.ts'

/** Finds the administrator of a request; the token is what `GET /token` echoes. */
export type Authenticate = (context: WebContext) => Promise<{ admin: AdminDoc; token: string }>

/** What the operations need. */
export interface HttpDeps {
  s: Subscriptions
  rates: Rates
  authenticate: Authenticate
  door: AppDoor
  maySendFrom: MaySendFrom
}

/** What every handler is told about the request. */
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
  /** The apps that the answer covers: the selected one, or all in scope. */
  appKeys: readonly string[]
}

/** A request of an app's back end. */
export interface AppCall extends Call {
  app: AppDoc
}

/** What stands in `data`; undefined when the handler has answered itself. */
type Data<E> = E extends { response: infer R } ? (R extends z.ZodType ? z.input<R> : undefined) : never
type Handle<E, C> = (input: EndpointInput<E>, call: C) => Promise<Data<E> | undefined>

/** Largest body of an operation that says nothing else, in bytes: the longest texts of a plan, all of them escaped. */
const BODY_BYTES = 128 * 1024
const WRITES = new Set(['POST', 'PUT'])

type ReadBody = (context: WebContext) => Promise<void>

/** Reads the body of an operation, where it has one. */
function readerOf({ method, body, bodyBytes = BODY_BYTES }: AnyEndpoint<Access>): ReadBody {
  if (!WRITES.has(method) || !body) return () => Promise.resolve()
  return context => readJson(context, { bytes: bodyBytes })
}

/**
 * Whose requests are counted, before anything is looked up: those of a session that is known here, else of the address.
 * A session is counted there once in each process; a made-up token always.
 */
function callerOf(s: Subscriptions, context: WebContext): string {
  const token = context.get('token')
  return isKnownToken(s, token) ? token : clientNetwork(factsOf(context).ip)
}

/** The call of a request that has an idempotency key. */
function claimed<C extends Call>(call: C, claim: Claim | undefined): C {
  return claim ? { ...call, actor: { ...call.actor, claim } } : call
}

/** An operation of administrators; `readBody` reads a body that is no JSON, as `rawBody`. */
export function bindAdmin<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, AdminCall>,
  readBody: ReadBody = readerOf(definition),
): void {
  register(router, definition, async context => {
    deps.rates.admin(callerOf(deps.s, context))
    const { admin, token } = await deps.authenticate(context)
    const call: AdminCall = {
      ...callOf(context, { kind: 'admin', id: String(admin._id), name: admin.username }),
      admin,
      token,
      ...(await selectApps(deps.s, context, definition.access, admin)),
    }
    if (definition.access.kind === 'admin' && !may(admin, definition.access.right)) throw new ProblemError('forbidden')
    await readBody(context)
    await run(deps.s, context, definition, `admin/${admin._id}`, (input, claim) => handle(input, claimed(call, claim)))
  })
}

/** An operation of an app's back end. Of a signed request the body is read before the signature, which covers it. */
export function bindApp<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, AppCall>,
): void {
  const readBody = readerOf(definition)
  register(router, definition, async context => {
    const { app, credential } = await deps.door.enter(context, () => readBody(context))
    deps.rates.server(credential._id)
    await readBody(context)
    const call: AppCall = { ...callOf(context, { kind: 'app', id: credential._id, name: app.app_key }), app }
    await run(deps.s, context, definition, `app/${credential._id}`, (input, claim) =>
      handle(input, claimed(call, claim)),
    )
  })
}

/** An operation that anybody may call. */
export function bindOpen<E extends AnyEndpoint<Access>>(
  router: Router,
  deps: HttpDeps,
  definition: E,
  handle: Handle<E, Call>,
): void {
  const readBody = readerOf(definition)
  register(router, definition, async context => {
    deps.rates.login(clientNetwork(factsOf(context).ip))
    await readBody(context)
    const call = callOf(context, { kind: 'admin', id: '', name: '' })
    answerWith(context, deps.s, await handle(inputOf(context, definition), call))
  })
}

function register<E extends AnyEndpoint<Access>>(
  router: Router,
  definition: E,
  serve: (context: WebContext) => Promise<void>,
): void {
  const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1')
  router.register(path, [definition.method.toLowerCase()], async (context: WebContext) => {
    context.state.route = definition.path
    await serve(context)
  })
}

async function run<E extends AnyEndpoint<Access>>(
  s: Subscriptions,
  context: WebContext,
  definition: E,
  who: string,
  handle: (input: EndpointInput<E>, claim?: Claim) => Promise<Data<E> | undefined>,
): Promise<void> {
  const input = inputOf(context, definition)
  const work = async (claim?: Claim) => answerWith(context, s, await handle(input, claim))
  if (WRITES.has(definition.method)) await once(s, context, who, work)
  else await work()
}

function answerWith(context: WebContext, s: Subscriptions, data: object | undefined): void {
  if (data !== undefined) answer(context, s.config.SUCCESS_CODE, data)
}

/** Empty query fields count as absent: a form sends them all. */
function inputOf<E extends AnyEndpoint<Access>>(context: WebContext, definition: E): EndpointInput<E> {
  const query = Object.fromEntries(Object.entries(context.query).filter(([, value]) => value !== ''))
  return {
    params: parseFields(definition.params, context.params),
    query: parseFields(definition.query, query),
    body: parseFields(definition.body, context.request.body ?? {}),
  } as EndpointInput<E>
}

/** Parses fields. Unknown ones are dropped, wrong ones are `validation_failed` with one entry for each of the first 50. */
function parseFields<S extends z.ZodType | undefined>(schema: S, value: unknown): unknown {
  if (!schema) return undefined
  const result = validate(schema, value)
  if (result.ok) return result.data
  throw new ProblemError('validation_failed', undefined, { faults: faultsOf(result, value) })
}

function callOf(context: WebContext, who: Pick<Actor, 'kind' | 'id' | 'name'>): Call {
  const { requestId, ip } = factsOf(context)
  return { actor: { ...who, requestId, ip }, lang: langOfRequest(context), context }
}

/** Which apps the request is about. An unknown app and one outside the scope look the same. */
async function selectApps(
  s: Subscriptions,
  context: WebContext,
  access: Access,
  admin: AdminDoc,
): Promise<{ appKey: string; appKeys: readonly string[] }> {
  if (access.kind !== 'admin' || access.app === 'ignored') return { appKey: '', appKeys: [] }
  const given = context.query.app_key
  if (given === undefined || given === '') {
    if (access.app === 'required') throw new ProblemError('app_key_missing')
    const live = await liveAppKeys(s.c)
    return { appKey: '', appKeys: live.filter(key => covers(admin, key)) }
  }
  const known = typeof given === 'string' && covers(admin, given)
  const app = known ? await s.memory.apps.get(given, () => findApp(s.c, given)) : undefined
  if (!app) throw new ProblemError('app_key_unknown')
  return { appKey: app.app_key, appKeys: [app.app_key] }
}

/** Throws `app_not_found` for an app outside the scope. */
export function assertInScope(admin: AdminDoc, appKey: string): void {
  const scope = scopeOf(admin)
  if (scope && !scope.includes(appKey)) throw new ProblemError('app_not_found')
}
