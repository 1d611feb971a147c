/**
 * Switch evaluation over OFREP 0.3 (OpenFeature Remote Evaluation Protocol). Outside the envelope, because OFREP
 * clients reject any other body.
 */
import type Router from '@koa/router'
import { z } from 'zod'
import { readJson } from '../../../platform/http/json-body.ts'
import { factsOf, toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'
import { type ProblemError, problems } from '../../../platform/problems.ts'
import { createTtlCache } from '../../../platform/ttl-cache.ts'
import { allSwitches } from '../../catalogue/store/plans-and-flags.ts'
import type { HttpDeps } from '../../http/shared/bind.ts'
import { isUnchanged } from '../../http/shared/etag.ts'
import { secondsOf } from '../../rules/time-zone.ts'
import type { SwitchDoc } from '../../store/models.ts'
import { type EvaluationContext, evaluate } from '../rules/evaluate-flag.ts'

const body = z.object({ context: z.record(z.string(), z.unknown()).default({}) })
const BODY_BYTES = 64 * 1024
/** Delay in milliseconds after which a changed switch is visible in all processes. */
const MEMORY_MS = 1_000

/** A refusal with an error code of the protocol. */
class OfrepError extends Error {
  readonly status: number
  readonly code: string | undefined
  constructor(status: number, code: string | undefined, details: string) {
    super(details)
    this.status = status
    this.code = code
  }
}

/** Mounts the evaluation of one switch and of all. */
export function mountOfrep(router: Router, { subscriptions, rates, appAuthenticator }: HttpDeps): void {
  const cache = createTtlCache<SwitchDoc[]>({
    ttlMs: MEMORY_MS,
    refreshMs: MEMORY_MS / 2,
    max: 1_000,
    clock: subscriptions.clock,
    isCacheable: () => true,
  })
  const prepare = async (context: WebContext) => {
    context.state.route = '/ofrep/v1/evaluate/flags'
    const key = context.get('x-api-key') || (/^Bearer\s+(\S+)$/i.exec(context.get('authorization'))?.[1] ?? '')
    const entry = await appAuthenticator.enterByKey(key)
    if (!entry) throw new OfrepError(401, undefined, 'The API key is missing, unknown or revoked.')
    const isPublic = entry.credential.kind === 'publishable'
    if (isPublic) rates.ofrep(`${clientNetwork(factsOf(context).ip)} ${entry.credential._id}`)
    else rates.server(entry.credential._id)
    // Published clients (Go) send no Content-Type, and the protocol has no other body than JSON.
    context.req.headers['content-type'] ||= 'application/json'
    await readJson(context, { bytes: BODY_BYTES })
    const { app_key } = entry.app
    const switches = await cache.get(app_key, () => allSwitches(subscriptions.collections, app_key))
    return {
      switches: isPublic ? switches.filter(({ client_visible }) => client_visible === '1') : switches,
      who: contextOf(context.request.body),
      now: secondsOf(subscriptions.clock.now()),
    }
  }
  router.post('/ofrep/v1/evaluate/flags', async (context: WebContext) =>
    speakOfrep(context, async () => {
      const { switches, who, now } = await prepare(context)
      subscriptions.metrics.switchEvaluations.inc({ kind: 'bulk' })
      const text = JSON.stringify({ flags: switches.map(stored => outcomeOf(stored, who, now)) })
      if (isUnchanged(context, text)) return
      context.type = 'application/json'
      context.body = text
    }),
  )
  router.post('/ofrep/v1/evaluate/flags/:key', async (context: WebContext) =>
    speakOfrep(context, async () => {
      const { switches, who, now } = await prepare(context)
      const key: string = context.params.key ?? ''
      subscriptions.metrics.switchEvaluations.inc({ kind: 'single' })
      const stored = switches.find(({ name }) => name === key)
      if (!stored) throw new OfrepError(404, 'FLAG_NOT_FOUND', 'There is no such switch.')
      const outcome = outcomeOf(stored, who, now)
      if ('errorCode' in outcome) context.status = 400
      context.body = outcome
      context.type = 'application/json'
    }),
  )
}

function contextOf(given: unknown): EvaluationContext {
  const parsed = body.safeParse(given ?? {})
  if (!parsed.success) throw new OfrepError(400, 'INVALID_CONTEXT', 'The context must be an object.')
  const { targetingKey, ...attributes } = parsed.data.context
  if (targetingKey !== undefined && typeof targetingKey !== 'string')
    throw new OfrepError(400, 'INVALID_CONTEXT', 'targetingKey must be a string.')
  return { targetingKey: targetingKey === '' ? undefined : targetingKey, attributes }
}

function outcomeOf(stored: SwitchDoc, who: EvaluationContext, now: number) {
  const result = evaluate(stored, who, now)
  if (!result.ok)
    return { key: stored.name, errorCode: result.error, errorDetails: 'This switch is rolled out by targetingKey.' }
  const { reason, variant, value } = result
  const metadata = { version: stored.version, type: stored.type }
  return { key: stored.name, reason, variant, ...(value === undefined ? {} : { value }), metadata }
}

/**
 * Converts refusals to the protocol's form: `errorCode` for errors that the caller can fix, `errorDetails` for the
 * others.
 */
async function speakOfrep(context: WebContext, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = error instanceof OfrepError ? error : refusalOf(context, toProblem(error))
    const key: unknown = context.params.key
    context.status = refusal.status
    context.body = {
      ...(typeof key === 'string' && refusal.code ? { key } : {}),
      ...(refusal.code ? { errorCode: refusal.code } : {}),
      errorDetails: refusal.message,
    }
  }
}

function refusalOf(context: WebContext, problem: ProblemError): OfrepError {
  const { http } = problems[problem.code]
  if (problem.code === 'internal') throw problem
  if (problem.retryAfter !== undefined) context.set('Retry-After', String(problem.retryAfter))
  return new OfrepError(http, http === 400 || http === 415 ? 'PARSE_ERROR' : undefined, problem.detail)
}
