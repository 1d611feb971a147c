/** `Idempotency-Key`: a repeated request gets the answer of the first one and changes nothing again. */
import { createHash } from 'node:crypto'
import { IDEMPOTENCY_LIFETIME_MS, readIdempotencyKey } from '../../../platform/http/idempotency-key.ts'
import { toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { SecretError } from '../../../platform/security/secrets.ts'
import type { Claim, Subscriptions } from '../../context.ts'
import { fault } from '../../rules/field-errors.ts'
import { freeKey, storeAnswer, takeKey, takeOverKey } from '../../store/nonces-and-idempotency.ts'
import { refuse } from './envelope.ts'

/** Up to 255 printable characters without blanks. */
export const IDEMPOTENCY_KEY = /^[!-~]{0,255}$/
/** A request that has not answered after so long died with its process. */
const DEAD_MS = 60_000

interface StoredAnswer {
  status: number
  /** Most answers have none. */
  location?: string
  body: unknown
}

/**
 * Runs `work` once per (who, route, key): a repeat gets the stored answer, one with another body
 * `idempotency_key_mismatch`, one beside the first `idempotency_in_progress`. Without the header it just runs. Of a
 * request that died the repeat runs, unless something was stored: then `idempotency_answer_lost`. An error is an answer
 * only when something was stored before it.
 */
export async function once(
  s: Subscriptions,
  context: WebContext,
  who: string,
  work: (claim?: Claim) => Promise<void>,
): Promise<void> {
  const given = readIdempotencyKey(
    context,
    IDEMPOTENCY_KEY,
    () => new ProblemError('validation_failed', undefined, { faults: [fault('Idempotency-Key', 'format')] }),
  )
  if (!given) return work()
  const id = createHash('sha256').update(`${who}\n${context.method}\n${context.path}\n${given.key}`).digest('hex')
  const hash = given.digest.toString('hex')
  const now = s.clock.now()
  const exp = new Date(now.getTime() + IDEMPOTENCY_LIFETIME_MS)
  const known = await takeKey(s.c, { _id: id, hash, state: 'running', started_at: now, exp })
  if (known) {
    if (known.hash !== hash) throw new ProblemError('idempotency_key_mismatch')
    if (known.answer !== undefined) return replay(s, context, id, known.answer)
    const dead = now.getTime() - known.started_at.getTime() > DEAD_MS
    if (dead && known.state === 'changed') throw new ProblemError('idempotency_answer_lost')
    if (!dead || !(await takeOverKey(s.c, known, now))) throw new ProblemError('idempotency_in_progress')
  }
  const claim = { id, startedAt: now }
  try {
    await work(claim)
  } catch (error) {
    await settleFailed(s, context, claim, error)
    throw error
  }
  await keepAnswer(s, context, claim)
}

/** What failed half way cannot be run again: its repeats get the error. */
async function settleFailed(s: Subscriptions, context: WebContext, claim: Claim, error: unknown): Promise<void> {
  if (await freeKey(s.c, claim)) return
  refuse(context, toProblem(error))
  await keepAnswer(s, context, claim)
}

/** Sealed: the answer may show a new secret, which is stored nowhere else. */
async function keepAnswer(s: Subscriptions, context: WebContext, claim: Claim): Promise<void> {
  const answer: StoredAnswer = {
    status: context.status,
    location: context.response.get('location'),
    body: context.body,
  }
  await storeAnswer(s.c, claim, s.secrets.seal('app-secret', claim.id, JSON.stringify(answer)))
}

function replay(s: Subscriptions, context: WebContext, id: string, sealed: string): void {
  const stored = JSON.parse(openAnswer(s, id, sealed)) as StoredAnswer
  context.status = stored.status
  if (stored.location) context.set('Location', stored.location)
  context.set('Idempotency-Replayed', 'true')
  context.body = stored.body
}

/** The stored answer in clear; `idempotency_answer_lost` when its encryption key is lost. */
function openAnswer(s: Subscriptions, id: string, sealed: string): string {
  try {
    return s.secrets.open('app-secret', id, sealed)
  } catch (error) {
    if (error instanceof SecretError) throw new ProblemError('idempotency_answer_lost', undefined, { cause: error })
    throw error
  }
}
