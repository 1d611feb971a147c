/** `/emails`: sending, the log, and what can be done with a scheduled message. */
import type { Clock } from '../../../platform/clock.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { cancelEmail, getEmail, getEmailRaw, rescheduleEmail } from '../../log/http/emails-contract.ts'
import { listEmails } from '../../log/http/list-contract.ts'
import { sendBatch, sendEmail } from '../../submission/http/send-contract.ts'
import { callerOf, toRefusal } from '../../submission/http/sending.ts'
import { answerOfKey } from '../../submission/idempotency.ts'
import { LOOKUP_MS } from '../../submission/validate-submission.ts'
import { type FetchAttachments, hasLinked } from '../fetch-attachments.ts'
import { refuseAttachment } from '../rules/attachments.ts'
import { type OwnEmail, toListed, toShown } from '../rules/email-answer.ts'
import { toOwnEmail } from '../rules/email-request.ts'
import { ForeignError } from '../rules/foreign-error.ts'
import { given } from '../rules/loose-input.ts'
import { toInstant } from '../rules/relative-time.ts'
import { readStored } from '../stored-message.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage } from './pages.ts'

/** Dependencies of these translations. */
export interface EmailDeps extends ForeignDeps {
  mongo: Mongo
  clock: Clock
  config: Pick<Config, 'TRUSTED_PROXIES'>
  fetchAttachments: FetchAttachments
}

/** Adds the addresses. */
export function addEmailRoutes(deps: EmailDeps): void {
  const id = (request: ForeignRequest) => ({ id: request.params.id })
  addForeignRoutes(deps, [
    { method: 'POST', path: '/emails', operation: sendEmail, sends: true, handle: request => sendOne(request, deps) },
    {
      ...{ method: 'POST', path: '/emails/batch', operation: sendBatch, sends: true },
      handle: request => sendMany(request, deps),
    },
    { method: 'GET', path: '/emails', operation: listEmails, handle: listMessages },
    { method: 'GET', path: '/emails/:id', operation: getEmail, handle: showMessage },
    {
      ...{ method: 'PATCH', path: '/emails/:id', operation: rescheduleEmail, sends: true },
      async handle(request) {
        const { scheduled_at } = given(request.body, ['scheduled_at'])
        const body = scheduled_at === undefined ? {} : { scheduled_at: toInstant(scheduled_at, deps.clock.now()) }
        const changed = await request.own(rescheduleEmail, { params: id(request), body })
        return { object: 'email', id: changed.id }
      },
    },
    {
      ...{ method: 'POST', path: '/emails/:id/cancel', operation: cancelEmail, sends: true },
      async handle(request) {
        const canceled = await request.own(cancelEmail, { params: id(request) })
        return { object: 'email', id: canceled.id }
      },
    },
  ])
}

async function sendOne(request: ForeignRequest, deps: EmailDeps): Promise<object> {
  const email = toOwnEmail(request.body, deps.clock.now())
  const earlier = hasLinked(email) ? await earlierId(request, deps) : undefined
  if (earlier !== undefined) return { id: earlier }
  const { account } = request.principal
  const place = deps.room(account.id, undefined)
  try {
    await deps.fetchAttachments(account.id, email, bytes => place.count(bytes))
    const accepted = await request.own(sendEmail, { body: email })
    return { id: accepted.id }
  } finally {
    place.release()
  }
}

/** A repeated request gets its answer although what its attachments name may be gone by now. */
async function earlierId({ context, principal }: ForeignRequest, deps: EmailDeps): Promise<string | undefined> {
  const { idem } = callerOf(context, principal, 'send', deps.config.TRUSTED_PROXIES)
  if (!idem) return undefined
  const question = answerOfKey(deps.mongo, { idem, user_id: principal.account.id, created_at: deps.clock.now() })
  const earlier = await withTimeout(LOOKUP_MS, question)
  if (earlier?.kind === 'refused') throw toRefusal(earlier)
  return earlier?.id
}

const MODES: Readonly<Record<string, 'strict' | 'partial'>> = { '': 'strict', strict: 'strict', permissive: 'partial' }

async function sendMany({ context, body, own }: ForeignRequest, { clock }: EmailDeps): Promise<object> {
  const validation = context.get('x-batch-validation').toLowerCase()
  const mode = Object.hasOwn(MODES, validation) ? MODES[validation] : undefined
  if (!mode) throw new ForeignError(422, 'validation_error', sentence('compat.batch_validation'))
  if (!Array.isArray(body)) return { data: (await own(sendBatch, { body })).data }
  const translated = body.map(email => translateItem(email, clock.now()))
  if (mode === 'strict') for (const { error } of translated) if (error) throw error
  const places = translated.flatMap(({ error }, index) => (error ? [] : [index]))
  const emails = places.map(index => translated[index]?.email)
  const isAnyLeft = emails.length > 0 || body.length === 0
  const { data } = isAnyLeft ? await own(sendBatch, { query: { mode }, body: emails }) : { data: [] }
  const sent = data.flatMap(({ id }) => (id === undefined ? [] : [{ id }]))
  if (mode === 'partial') {
    const refused = translated.flatMap(({ error }, index) => (error ? [{ index, message: error.message }] : []))
    const later = data.flatMap(({ index, error }) =>
      error ? [{ index: places[index] ?? index, message: error.detail }] : [],
    )
    return { data: sent, errors: [...refused, ...later].toSorted((a, b) => a.index - b.index) }
  }
  const [failed] = data.flatMap(({ error }) => error ?? [])
  // A limit was reached on the way. With the same Idempotency-Key a repeat sends only what is missing.
  if (failed)
    throw new ProblemError(failed.code as ProblemError['code'], sentence('text.verbatim', { text: failed.detail }))
  return { data: sent }
}

/** One message of a batch: translated, or why it cannot be. */
function translateItem(given: unknown, now: Date): { email?: unknown; error?: ForeignError } {
  try {
    const email = toOwnEmail(given, now)
    if (hasLinked(email)) refuseAttachment(sentence('compat.attachment_in_batch'))
    return { email }
  } catch (error) {
    if (error instanceof ForeignError) return { error }
    throw error
  }
}

function listMessages(request: ForeignRequest): Promise<object> {
  return listPage(request, async page => {
    const { data, has_more, next } = await request.own(listEmails, { query: page })
    return { data: data.map(email => toListed(email)), has_more, next }
  })
}

async function showMessage(request: ForeignRequest): Promise<object> {
  const params = { id: request.params.id }
  const { has_raw, ...email } = await request.own(getEmail, { params })
  const raw = has_raw ? await rawOf(request, params) : undefined
  return toShown(email satisfies OwnEmail, raw && readStored(raw))
}

/** It may expire between the two reads. */
async function rawOf(request: ForeignRequest, params: { id: string | undefined }): Promise<Buffer | undefined> {
  try {
    return await request.own(getEmailRaw, { params })
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found') return undefined
    throw error
  }
}
