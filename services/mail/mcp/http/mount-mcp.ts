/** The address of the Model Context Protocol (Streamable HTTP): who may call it, and how requests get to the tools. */
import type Koa from 'koa'
import { readJson } from '../../../platform/http/json-body.ts'
import { type Authorise, createRouter, factsOf, refuseMethod, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { addDomainReads } from '../../domains/http/domains.ts'
import type { Access, Scope } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { ownOperations } from '../../http/shared/own-operations.ts'
import { createRateLimit, withRates } from '../../http/shared/rate-limit.ts'
import { addLogRoutes } from '../../log/http/emails.ts'
import { addStatsRoute } from '../../log/http/stats.ts'
import { addSendRoutes } from '../../submission/http/send.ts'
import type { SubmissionService } from '../../submission/submission-service.ts'
import { addSuppressionList } from '../../suppressions/http/suppressions.ts'
import { createRenderPublished } from '../../templates/render-published.ts'
import { createToolHandler, type ToolCaller } from './mcp-server.ts'

/** Where clients connect. */
const MCP_PATH = '/mcp'
/** Largest request: a message with text and HTML, and room for its JSON. */
const BODY_BYTES = 512 * 1024

/** Scopes of the API that a scope of the protocol opens, to the tools alone. */
const OPENS: Readonly<Partial<Record<Scope, readonly Scope[]>>> = {
  mcp: ['emails:read', 'domains:read', 'suppressions:read'],
  'mcp:send': ['emails:send'],
}

/** Dependencies of the address. */
export interface McpMount extends Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log'> {
  authorise: Authorise<Access, Principal>
  submission: SubmissionService
}

/** Mounts the address on an application. */
export function mountMcp(app: Koa, mount: McpMount): void {
  const { config, mongo, log } = mount
  const { origin } = new URL(config.APP_BASE_URL)
  const authorise = withRates(mount.authorise, mongo.db, config)
  const principals = new WeakMap<object, Principal>()
  const own = ownOperations(mountOwn(mount, principals))
  const callers = new WeakMap<Request, ToolCaller>()
  const handler = createToolHandler(callers)
  app.use(async (context, next) => {
    if (context.path !== MCP_PATH) return next()
    context.state.route = MCP_PATH
    refuseForeign(context, origin)
    const principal = await authorise(context, { kind: 'account', scope: 'mcp' })
    await readMessage(context)
    const ended = new AbortController()
    context.res.once('close', () => ended.abort())
    const request = new Request(`${origin}${MCP_PATH}`, {
      ...{ method: 'POST', headers: protocolHeaders(context), signal: ended.signal },
    })
    principals.set(context.req, principal)
    callers.set(request, {
      maySend: principal.scopes.includes('mcp:send'),
      own: (operation, input) => own(context, operation, input),
      report: error => log.error({ request: factsOf(context).requestId, err: error }, 'tool failed'),
    })
    try {
      await answer(context, await handler.fetch(request, { parsedBody: context.request.body }))
    } catch (error) {
      // The client is gone, and with it the exchange; no answer can reach it.
      if (!ended.signal.aborted) throw error
    }
    return undefined
  })
}

/**
 * Only Bearer tokens: a page in a browser must not act with the session of its user. The origin of a request is checked
 * as well, so that a page whose name was pointed at this address (DNS rebinding) gets nowhere.
 */
function refuseForeign(context: WebContext, origin: string): void {
  if (context.method !== 'POST') refuseMethod(context, ['POST'])
  const given = context.get('origin')
  if (given !== '' && given !== origin) throw new ProblemError('forbidden', sentence('mcp.origin', { origin }))
  if (context.get('authorization') === '') throw new ProblemError('invalid_token', sentence('mcp.token_needed'))
}

/** One message a request: a batch would be many calls that count as one, and revisions since 2025-06-18 have none. */
async function readMessage(context: WebContext): Promise<void> {
  await readJson(context, { bytes: BODY_BYTES })
  if (Array.isArray(context.request.body)) throw new ProblemError('invalid_request', sentence('mcp.no_batch'))
}

/** Header fields that the protocol reads. */
function protocolHeaders(context: WebContext): Headers {
  const headers = new Headers({ 'content-type': 'application/json' })
  for (const [name, value] of Object.entries(context.headers))
    if (typeof value === 'string' && (name === 'accept' || name.startsWith('mcp-'))) headers.set(name, value)
  return headers
}

/**
 * Answers when the tool is done: what it calls uses the context of this request, and a stream that has begun would be
 * answered with its header fields. Results are bounded, and no stream stays open.
 */
async function answer(context: WebContext, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  context.body = body.length > 0 ? body : null
  context.status = response.status
  context.set('Cache-Control', 'no-store')
  for (const name of ['content-type', 'mcp-protocol-version']) {
    const value = response.headers.get(name)
    if (value !== null) context.set(name, value)
  }
}

/** The operations that tools call, on a router that no request reaches by its address. */
function mountOwn({ config, mongo, clock, log, submission }: McpMount, principals: WeakMap<object, Principal>) {
  const router = createRouter()
  /** The caller was authorised before; an operation outside of the scopes of the protocol is refused here. */
  const authorise: Authorise<Access, Principal> = async (context, access) => {
    const principal = await Promise.resolve(principals.get(context.req))
    const opened = principal?.scopes.flatMap(scope => OPENS[scope as Scope] ?? []) ?? []
    if (!principal || access.kind !== 'account' || !opened.includes(access.scope))
      throw new ProblemError('insufficient_scope', sentence('detail.lacks_scope', { scope: 'mcp:send' }))
    return principal
  }
  const takeSend = createRateLimit(mongo.db, {
    name: 'send',
    points: Math.ceil(config.SEND_REQUESTS_PER_SECOND * 2),
    seconds: 2,
  })
  const deps = { config, mongo, clock, log, authorise, takeSend }
  const policy = { requireVerified: config.SEND_REQUIRES_VERIFIED, capture: config.DELIVERY_MODE === 'capture' }
  addLogRoutes(router, deps)
  addStatsRoute(router, deps)
  addDomainReads(router, { ...deps, policy })
  addSuppressionList(router, deps)
  const { accept, validateSender } = submission
  addSendRoutes(router, { ...deps, accept, validateSender, renderPublished: createRenderPublished({ mongo }) })
  return router
}
