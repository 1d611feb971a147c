/** `POST /api/v1/emails/batch`: up to 100 messages, each with a result of its own. */

import { nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import type { BodyPlace, BodyRoom } from '../../../platform/http/body-room.ts'
import { parse, problemBody, toProblem } from '../../../platform/http/web-app.ts'
import { MAX_ERRORS } from '../../../platform/json/bounded-validation.ts'
import { type FieldError, ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { keysStandForAnother } from '../../store/messages.ts'
import { type FilledRequest, fillTemplate, renderedSize } from '../fill-template.ts'
import { EMAIL_LIMITS } from '../rules/email-parts.ts'
import { type EmailRequest, emailRequest } from '../rules/email-request.ts'
import { type Caller, sendEmail } from '../send-email.ts'
import { LOOKUP_MS } from '../validate-submission.ts'
import { type EmailAccepted, type SendRoutesDeps, toAnswer, toRefusal, validateRequest } from './sending.ts'

type Problem = ReturnType<typeof problemBody>

/** A result inside the answer: the message, or why there is none. */
interface BatchItem {
  index: number
  status: number
  /** Of the message, as in the lists of other services: clients look for it here. */
  id?: string
  email?: EmailAccepted
  error?: Problem
}

/**
 * Sends the messages of a batch. `strict`: one message that is not valid, or has a sender that is not allowed, refuses
 * the complete batch before anything is stored. What fails later (a quota that runs out) is a result of its item in both
 * modes. With an idempotency key each item has the key `<key>#<index>` and the hash of the body; a key that exists
 * for another body refuses the complete batch. `replayed`: nothing was stored, every message had been accepted before.
 */
export async function handleBatch(
  body: readonly unknown[],
  mode: 'strict' | 'partial',
  caller: Caller,
  deps: SendRoutesDeps & { room: BodyRoom },
): Promise<{ list: { object: 'list'; data: BatchItem[]; has_more: false }; replayed: boolean }> {
  await refuseReusedKey(caller, deps)
  const place = deps.room(caller.submitter.userId, undefined)
  try {
    return await sendAll(body, mode, caller, { ...deps, count: countRendered(place, deps.config.MAX_MESSAGE_BYTES) })
  } finally {
    place.release()
  }
}

/** A small batch can render to a large one: all of it has room for as much as one message. */
function countRendered(place: BodyPlace, limit: number): (filled: FilledRequest) => void {
  let total = 0
  return filled => {
    const size = renderedSize(filled)
    total += size
    if (total > limit) throw new ProblemError('message_too_large', sentence('detail.batch_rendered', { limit }))
    place.count(size)
  }
}

type BatchDeps = SendRoutesDeps & { count(filled: FilledRequest): void }

async function sendAll(body: readonly unknown[], mode: 'strict' | 'partial', caller: Caller, deps: BatchDeps) {
  const validated = await inTurns(body, item => validateItem(item, caller, deps))
  if (mode === 'strict') refuseAll(validated)
  const results = await inTurns(validated, (item, index) =>
    item instanceof ProblemError ? Promise.resolve({ item: failed(index, item) }) : sendItem(item, index, caller, deps),
  )
  const replayed = results.flatMap(result => ('replayed' in result ? [result.replayed] : []))
  return {
    list: { object: 'list' as const, data: withFewErrors(results.map(({ item }) => item)), has_more: false as const },
    replayed: replayed.length > 0 && replayed.every(Boolean),
  }
}

/** One answer lists no more errors than that of one message, and at least one for each message. */
function withFewErrors(items: readonly BatchItem[]): BatchItem[] {
  let left = MAX_ERRORS
  return items.map(item => {
    if (!item.error?.errors) return item
    const errors = item.error.errors.slice(0, Math.max(1, left))
    left -= errors.length
    return { ...item, error: { ...item.error, errors } }
  })
}

/** Begins the work on one item after the other, with a turn for others; what waits for the database waits together. */
async function inTurns<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const begun: Promise<R>[] = []
  for (const [index, item] of items.entries()) {
    const result = work(item, index)
    result.catch(() => undefined) // heard of below
    begun.push(result)
    await nextTurn()
  }
  return Promise.all(begun)
}

/** The messages of the earlier batch may be more than those of this one. */
async function refuseReusedKey({ idem, submitter }: Caller, { mongo, clock }: SendRoutesDeps): Promise<void> {
  if (!idem) return
  const keys = Array.from({ length: EMAIL_LIMITS.batch }, (_, index) => keyOfItem(idem.key, index))
  const question = keysStandForAnother(mongo, submitter.userId, { keys, hash: idem.hash, now: clock.now() })
  if (await withTimeout(LOOKUP_MS, question)) throw new ProblemError('idempotency_key_reused')
}

function keyOfItem(key: string, index: number): string {
  return `${key}#${index}`
}

async function validateItem(item: unknown, caller: Caller, deps: BatchDeps): Promise<FilledRequest | ProblemError> {
  try {
    const request = parse(emailRequest, item, '') as EmailRequest
    validateRequest(request, deps.clock.now())
    const refused = await deps.validateSender(caller.submitter, request.from.email, request.track)
    if (refused) return toRefusal(refused)
    const filled = await fillTemplate(request, caller.submitter.userId, deps.renderPublished)
    deps.count(filled)
    return filled
  } catch (error) {
    if (error instanceof ProblemError) return error
    throw error
  }
}

/** Throws the first problem, with the errors of all items under their index. */
function refuseAll(validated: readonly (FilledRequest | ProblemError)[]): void {
  const first = validated.find(item => item instanceof ProblemError)
  if (!first) return
  const errors = validated.flatMap((item, index): FieldError[] => {
    if (!(item instanceof ProblemError)) return []
    if (item.errors.length === 0) return [{ pointer: `/${index}`, reason: item.sentence, code: item.code }]
    return item.errors.map(error => ({ ...error, pointer: `/${index}${error.pointer}` }))
  })
  throw new ProblemError(
    first.code,
    sentence('detail.of_message', { index: validated.indexOf(first), reason: first.sentence }),
    {
      errors,
      ...(first.retryAfter !== undefined && { retryAfter: first.retryAfter }),
    },
  )
}

async function sendItem(
  { request, template, warnings }: FilledRequest,
  index: number,
  caller: Caller,
  deps: SendRoutesDeps,
): Promise<{ item: BatchItem; replayed?: boolean }> {
  const idem = caller.idem && { ...caller.idem, key: keyOfItem(caller.idem.key, index) }
  try {
    const result = await sendEmail(request, idem ? { ...caller, idem } : caller, deps, template)
    if (result.kind === 'refused') return { item: failed(index, toRefusal(result)) }
    const email = toAnswer(result, warnings)
    return { item: { index, status: 202, id: email.id, email }, replayed: result.replayed }
  } catch (error) {
    return { item: failed(index, toProblem(error)) }
  }
}

function failed(index: number, problem: ProblemError): BatchItem {
  const error = problemBody(problem)
  return { index, status: error.status, error }
}
