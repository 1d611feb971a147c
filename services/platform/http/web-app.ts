/** The Koa application that all HTTP services share: request ids, client addresses, access log, problem details, endpoints. */

import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import ipaddr from 'ipaddr.js'
import Koa, { type Context } from 'koa'
import type { z } from 'zod'
import { isMaxTimeExpired, isUnavailable } from '../database/mongo.ts'
import { type Issue, validate } from '../json/bounded-validation.ts'
import { isTrustedProxy, resolveClientAddress } from '../network/ip-networks.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { type FieldError, ProblemError, problems, problemTitle, refuseFields } from '../problems.ts'
import { inEnglish, sentence } from '../sentences/sentence.ts'
import type { AnyEndpoint, EndpointInput, EndpointResult } from './endpoint.ts'
import { readJson } from './json-body.ts'
import { codeAndParams, sentenceFields } from './sentence-fields.ts'
import { type ForwardingWatch, forwardingHeader } from './untrusted-proxy.ts'

/** Dependencies of the shared layer. */
export interface WebOptions {
  log: Log
  metrics: Metrics
  /** TRUSTED_PROXIES: networks whose X-Forwarded-For counts, and the word `private`. */
  trustedProxies: readonly string[]
  onUntrustedForwarding?: ForwardingWatch
  /** Why the process accepts no traffic now, for load balancers; undefined: it does. */
  readiness?: (() => string | undefined) | undefined
  /** Paths below which the rest is a secret, such as `/unsubscribe`: the access log shows `/unsubscribe/[redacted]`. */
  secretPaths?: readonly string[]
  /** A condition that needs attention although the process works; undefined: none. */
  warning?: (() => string | undefined) | undefined
}

/** A Koa context in handlers. */
export type WebContext = Context

/** Facts about a request that the shared layer found out. */
export interface RequestFacts {
  requestId: string
  /** Client address, v4-in-v6 unmapped; forwarded headers count only from trusted proxies. */
  ip: string
}

/** The facts of this request. */
export function factsOf(context: WebContext): RequestFacts {
  return context.state as RequestFacts
}

/** An application with request ids, access log, metrics and the JSON problem answer for everything that is thrown. */
export function createWeb(options: WebOptions): Koa {
  const { log, metrics, readiness, warning, secretPaths = [] } = options
  const app = new Koa()
  app.silent = true
  app.use(async (context, next) => {
    if (context.path !== '/readyz' || !PROBES.includes(context.method)) return next()
    const reason = readiness?.()
    context.status = reason === undefined ? 200 : 503
    context.body = `${[reason ?? 'ready', warning?.()].filter(Boolean).join('\n')}\n`
    return undefined
  })
  app.use(async (context, next) => {
    const started = performance.now()
    const given = context.get('x-request-id')
    context.state.requestId = /^[\w.-]{1,128}$/.test(given) ? given : randomUUID()
    context.state.ip = clientAddress(context, options)
    context.set('X-Request-Id', context.state.requestId)
    try {
      if (context.path === '/readyz') refuseMethod(context, PROBES)
      await next()
    } catch (error) {
      answerProblem(context, error, log)
    }
    const seconds = (performance.now() - started) / 1000
    const route = typeof context.state.route === 'string' ? context.state.route : 'other'
    metrics.httpRequests.observe(
      { route, method: context.method, status: `${Math.floor(context.status / 100)}xx` },
      seconds,
    )
    log.info(
      {
        request: context.state.requestId,
        method: context.method,
        route,
        path: loggedPath(context.path, secretPaths),
        status: context.status,
        ms: Math.round(seconds * 1000),
      },
      'request',
    )
  })
  return app
}

/** Methods of the probe. */
const PROBES = ['GET', 'HEAD']

/** Compared without regard to case, as the router does. */
function loggedPath(path: string, secretPaths: readonly string[]): string {
  const lower = path.toLowerCase()
  const secret = secretPaths.find(prefix => lower.startsWith(`${prefix}/`))
  return secret === undefined ? path : `${secret}/[redacted]`
}

/**
 * Authenticates and authorises the caller; throws a {@link ProblemError} otherwise. Request rates are counted here as
 * well.
 */
export type Authorise<A, P> = (context: WebContext, access: A) => Promise<P>

/** What an API does in its own way with every operation. */
export interface BindHooks<P> {
  /**
   * Reads the body, by default as JSON into `request.body`; when set, it is also called for operations without a body
   * schema. Returns a function to call once the request is processed, if any.
   */
  readBody?: ((context: WebContext, principal: P) => Promise<(() => void) | undefined>) | undefined
  /** Whether an empty field of the query counts as absent, as forms send them. */
  emptyIsAbsent?: boolean
  /** The refusal of fields that do not fit; unless given, a pointer for each error. */
  refuseFields?: (result: { issues: readonly Issue[] }, given: unknown) => ProblemError
  /** Wraps the work that processes and responds: for idempotency. */
  run?: (context: WebContext, principal: P, work: (principal: P) => Promise<void>) => Promise<void>
  /** Writes a result into the body; by default the result is the body. */
  answer?: (context: WebContext, result: unknown) => void
}

/** Default body limit in bytes: twice that of the largest body of the mail API without a limit of its own. */
const BODY_BYTES = 64 * 1024

/**
 * Binds an endpoint to its handler on the router: authorise, read the body, validate, process, respond. Unknown or
 * invalid fields are 422 with a pointer each; a prepared `context.body` (streams, text) is left alone. Bodies are read
 * after authentication: anonymous clients must not fill the memory.
 */
export function bind<A, P, E extends AnyEndpoint<A>, Nothing = never>(
  router: Router,
  authorise: Authorise<A, P>,
  definition: E,
  handle: (input: EndpointInput<E>, principal: P, context: WebContext) => EndpointResult<E, NoInfer<Nothing>>,
  hooks: BindHooks<P> = {},
): void {
  const { params, query, body, bodyBytes = BODY_BYTES } = definition
  const { readBody = body && readerOf(bodyBytes), run, refuseFields = refuseWithPointers } = hooks
  const answer = hooks.answer ?? ((context, result) => Object.assign(context, { body: result }))
  const handleInput = async (context: WebContext, principal: P, input: EndpointInput<E>) => {
    context.status = definition.status
    const result = await handle(input, principal, context)
    if (result !== undefined) answer(context, result)
    else if (context.body === undefined && context.status === 200) context.status = 204
  }
  const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1')
  router.register(path, [definition.method.toLowerCase()], async (context: WebContext) => {
    context.state.route = definition.path
    const principal = await authorise(context, definition.access)
    const handled = await readBody?.(context, principal)
    try {
      const input = {
        params: parseWith(refuseFields, params, context.params),
        query: parseWith(refuseFields, query, hooks.emptyIsAbsent ? withoutEmpty(context.query) : { ...context.query }),
        body: parseWith(refuseFields, body, context.request.body ?? {}),
      } as EndpointInput<E>
      const work = (caller: P) => handleInput(context, caller, input)
      await (run ? run(context, principal, work) : work(principal))
    } finally {
      handled?.()
    }
  })
}

/** Reads JSON of at most this many bytes. */
function readerOf(bytes: number) {
  return async (context: WebContext): Promise<undefined> => {
    await readJson(context, { bytes })
  }
}

function withoutEmpty(query: WebContext['query']): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
}

/** A new router, on which a path that is named literally is no value of a parameter: `/emails/batch` is no email. */
export function createRouter(): Router {
  const router = new Router()
  router.use(async (context: WebContext, next) => {
    const named = methodsAt(context.path, context.matched ?? [])
    if (named.isLiteral && !named.methods.includes(context.method)) refuseMethod(context, named.methods)
    await next()
  })
  return router
}

/** Methods of the routes that fit a path: of those that name it literally, if there are any. */
export function methodsAt(path: string, routes: readonly { path: string | RegExp; methods: readonly string[] }[]) {
  const literal = routes.filter(route => route.path === path)
  const isLiteral = literal.length > 0
  return { isLiteral, methods: [...new Set((isLiteral ? literal : routes).flatMap(({ methods }) => methods))] }
}

/** Throws `method_not_allowed` with the header Allow. */
export function refuseMethod(context: WebContext, allowed: readonly string[]): never {
  context.set('Allow', allowed.join(', '))
  throw new ProblemError(
    'method_not_allowed',
    sentence('detail.methods', { path: context.path, methods: allowed, method: context.method }),
  )
}

/** 404, and 405 with the header Allow where the path has other methods; mount it after the routers. */
export async function notFound(context: WebContext): Promise<void> {
  await Promise.resolve()
  const { methods } = methodsAt(context.path, context.matched ?? []) // left by the routers
  if (methods.length === 0) throw new ProblemError('not_found', sentence('detail.nothing_at', { path: context.path }))
  refuseMethod(context, methods)
}

/** Parses with zod; a failure becomes `validation_failed` with a pointer for each of the first 50 errors. */
export function parse<S extends z.ZodType | undefined>(schema: S, value: unknown, root: string): unknown {
  return parseWith(failure => refuseWithPointers(failure, value, root), schema, value)
}

function parseWith(
  refuse: NonNullable<BindHooks<unknown>['refuseFields']>,
  schema: z.ZodType | undefined,
  value: unknown,
): unknown {
  if (!schema) return undefined
  const result = validate(schema, value)
  if (!result.ok) throw refuse(result, value)
  return result.data
}

function refuseWithPointers({ issues }: { issues: readonly Issue[] }, _: unknown, root = ''): ProblemError {
  return refuseFields(issues.map(({ path, reason }) => ({ pointer: pointer(root, path), reason })))
}

/** Longest part of a pointer; names of fields that do not exist can have any length. */
const PART_CHARS = 128

function pointer(root: string, path: readonly PropertyKey[]): string {
  const parts = path.map(part => String(part).slice(0, PART_CHARS).replaceAll('~', '~0').replaceAll('/', '~1'))
  return root + parts.map(part => `/${part}`).join('')
}

function answerProblem(context: WebContext, error: unknown, log: Log): void {
  const problem = toProblem(error)
  const { requestId } = factsOf(context)
  if (problem.code === 'internal') log.error({ request: requestId, err: error }, 'request failed')
  const body = problemBody(problem)
  context.status = body.status
  if (problem.retryAfter !== undefined) context.set('Retry-After', String(problem.retryAfter))
  if (body.status === 401) context.set('WWW-Authenticate', 'Bearer')
  context.body = JSON.stringify({ ...body, instance: context.path, request_id: requestId })
  context.type = 'application/problem+json'
}

/** The members of a problem document (RFC 9457) that belong to the refusal itself, also inside a list of results. */
export function problemBody({ code, sentence: reason, detail, errors, challenge }: ProblemError) {
  const { http: status } = problems[code]
  return {
    type: `urn:postwright:problem:${code}`,
    title: problemTitle(code),
    status,
    ...sentenceFields('detail', reason),
    code,
    message: detail,
    ...(challenge === undefined ? {} : { challenge }),
    ...(errors.length > 0 ? fieldErrorsBody(errors) : {}),
  }
}

/**
 * Errors of fields, each with the code that clients compare, and beside them their sentences with codes of their own, which
 * may be more precise. The entries have no more members: the contract of `POST /api/send` excludes others.
 */
function fieldErrorsBody(errors: readonly FieldError[]) {
  return {
    errors: errors.map(({ pointer, reason, code = reason.code }) => ({
      pointer,
      code: code.replace(/^(?:field|problem)\./, ''),
      message: inEnglish(reason),
    })),
    errors_codes: errors.map(({ reason }) => codeAndParams(reason)),
  }
}

/** The response to any error: problems as they are, an unavailable database, or "internal". */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (isUnavailable(error))
    return new ProblemError('unavailable', sentence('detail.database_unavailable'), {
      retryAfter: 5,
      cause: error,
    })
  if (isMaxTimeExpired(error))
    return new ProblemError('unavailable', sentence('detail.query_too_slow'), { retryAfter: 5, cause: error })
  return new ProblemError('internal', undefined, { cause: error })
}

function clientAddress(context: WebContext, { trustedProxies: trusted, onUntrustedForwarding }: WebOptions): string {
  const hops = context
    .get('x-forwarded-for')
    .split(',')
    .map(hop => hop.trim())
    .filter(Boolean)
  const peer = plain(context.req.socket.remoteAddress ?? '')
  const header = forwardingHeader(context.req.headers)
  if (header && !isTrustedProxy(peer, trusted)) onUntrustedForwarding?.(peer, header)
  return resolveClientAddress(peer, hops, trusted)
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
