/** `Idempotency-Key`: a repeated request gets the response of the first one and changes nothing. */
import { createHash } from 'node:crypto'
import { IDEMPOTENCY_LIFETIME_MS, readIdempotencyKey } from '../../../platform/http/idempotency-key.ts'
import { toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { SecretError } from '../../../platform/security/secrets.ts'
import type { Claim, Subscriptions } from '../../context.ts'
import { fieldError } from '../../rules/field-errors.ts'
import { freeKey, storeAnswer, takeKey, takeOverKey } from '../../store/nonces-and-idempotency.ts'
import { refuse } from './envelope.ts'

/** Up to 255 printable characters without blanks. */
export const IDEMPOTENCY_KEY = /^[!-~]{0,255}$/
/** A request without a response after this time, in milliseconds, counts as lost with its process. */
const DEAD_MS = 60_000

interface StoredAnswer {
  status: number
  /** Absent on most responses. */
  location?: string
  body: unknown
}

/**
 * Runs `work` once per (caller, route, key): a repeat gets the stored response, one with another body
 * `idempotency_key_mismatch`, a parallel one `idempotency_in_progress`. Without the header it always runs. A repeat of
 * a lost request runs, unless something was stored: then `idempotency_answer_lost`. An error is stored as the response
 * only when something was stored before it.
 */
export async function once(
  subscriptions: Subscriptions,
  context: WebContext,
  who: string,
  work: (claim?: Claim) => Promise<void>,
): Promise<void> {
  const given = readIdempotencyKey(
    context,
    IDEMPOTENCY_KEY,
    () => new ProblemError('validation_failed', undefined, { errors: [fieldError('Idempotency-Key', 'format')] }),
  )
  if (!given) return work()
  const id = createHash('sha256').update(`${who}\n${context.method}\n${context.path}\n${given.key}`).digest('hex')
  const hash = given.digest.toString('hex')
  const now = subscriptions.clock.now()
  const exp = new Date(now.getTime() + IDEMPOTENCY_LIFETIME_MS)
  const known = await takeKey(subscriptions.collections, { _id: id, hash, state: 'running', started_at: now, exp })
  if (known) {
    if (known.hash !== hash) throw new ProblemError('idempotency_key_mismatch')
    if (known.answer !== undefined) return replay(subscriptions, context, id, known.answer)
    const dead = now.getTime() - known.started_at.getTime() > DEAD_MS
    if (dead && known.state === 'changed') throw new ProblemError('idempotency_answer_lost')
    if (!dead || !(await takeOverKey(subscriptions.collections, known, now)))
      throw new ProblemError('idempotency_in_progress')
  }
  const claim = { id, startedAt: now }
  try {
    await work(claim)
  } catch (error) {
    await settleFailed(subscriptions, context, claim, error)
    throw error
  }
  await keepAnswer(subscriptions, context, claim)
}

/** A request that failed after a change cannot be repeated: repeats get the error. */
async function settleFailed(
  subscriptions: Subscriptions,
  context: WebContext,
  claim: Claim,
  error: unknown,
): Promise<void> {
  if (await freeKey(subscriptions.collections, claim)) return
  refuse(context, toProblem(error))
  await keepAnswer(subscriptions, context, claim)
}

/** Sealed: the response may contain a new secret, which is stored nowhere else. */
async function keepAnswer(subscriptions: Subscriptions, context: WebContext, claim: Claim): Promise<void> {
  const answer: StoredAnswer = {
    status: context.status,
    location: context.response.get('location'),
    body: context.body,
  }
  await storeAnswer(
    subscriptions.collections,
    claim,
    subscriptions.secrets.seal('app-secret', claim.id, JSON.stringify(answer)),
  )
}

function replay(subscriptions: Subscriptions, context: WebContext, id: string, sealed: string): void {
  const stored = JSON.parse(openAnswer(subscriptions, id, sealed)) as StoredAnswer
  context.status = stored.status
  if (stored.location) context.set('Location', stored.location)
  context.set('Idempotency-Replayed', 'true')
  context.body = stored.body
}

/** Decrypts the stored response; throws `idempotency_answer_lost` when its encryption key is lost. */
function openAnswer(context: Subscriptions, id: string, sealed: string): string {
  try {
    return context.secrets.open('app-secret', id, sealed)
  } catch (error) {
    if (error instanceof SecretError) throw new ProblemError('idempotency_answer_lost', undefined, { cause: error })
    throw error
  }
}
