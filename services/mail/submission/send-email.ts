/** Submits a parsed HTTP request: composes the message and accepts it with its envelope. */
import type { Clock } from '../../platform/clock.ts'
import { nextTurn, TURN_BYTES } from '../../platform/concurrency/event-loop-turns.ts'
import { newId } from '../../platform/ids.ts'
import { domainOf, needsSmtpUtf8 } from '../message/address.ts'
import { compose } from './compose.ts'
import { type EmailRequest, type RawRequest, recipientsOf } from './rules/email-request.ts'
import type { Accept, Accepted, Refused, Submission, Submitter } from './submission.ts'

/** Who sends, from where, and under which idempotency key. */
export interface Caller {
  submitter: Submitter
  received: Submission['received']
  idem?: { key: string; hash: string }
}

/** Dependencies of {@link sendEmail} and {@link sendRawEmail}. */
export interface SendDeps {
  accept: Accept
  clock: Clock
}

/** Composes and submits a message. `template` is what its parts were rendered from, if they were. */
export async function sendEmail(
  request: EmailRequest,
  caller: Caller,
  deps: SendDeps,
  template?: Submission['template'],
): Promise<Accepted | Refused> {
  const raw = await composeEmail(request, deps.clock)
  const submission = submissionOf(request, raw, recipientsOf(request), caller, deps.clock)
  return deps.accept(template ? { ...submission, template } : submission)
}

/** The message that a request makes, with a Message-ID in the sender's domain. */
export function composeEmail(request: EmailRequest, clock: Clock): Promise<Buffer> {
  const date = clock.now()
  return compose(request, { messageId: `<${newId('m', date.getTime())}@${domainOf(request.from.email)}>`, date })
}

/** Submits a finished message. Bare LF becomes CRLF: files on disk rarely have the line ends of the wire. */
export async function sendRawEmail(request: RawRequest, caller: Caller, deps: SendDeps): Promise<Accepted | Refused> {
  const recipients = recipientsOf(request).map(({ email }) => ({ email, type: 'envelope' as const }))
  return deps.accept(submissionOf(request, await toCrlf(request.raw), recipients, caller, deps.clock))
}

function submissionOf(
  request: EmailRequest | RawRequest,
  raw: Buffer,
  recipients: Submission['recipients'],
  caller: Caller,
  clock: Clock,
): Submission {
  const { submitter, received, idem } = caller
  const scheduledAt = request.scheduled_at === undefined ? undefined : new Date(request.scheduled_at)
  const addresses = [request.from.email, ...recipients.map(({ email }) => email)]
  return {
    submitter: request.test ? { ...submitter, test: true } : submitter,
    mailFrom: request.from.email,
    recipients,
    raw,
    received,
    ...(addresses.some(needsSmtpUtf8) && { smtputf8: true }),
    ...(request.stream && { lane: request.stream }),
    ...('unsubscribe' in request && request.unsubscribe?.list && { list: request.unsubscribe.list }),
    ...(request.track && { track: request.track }),
    ...(request.tags && { tags: request.tags }),
    ...(request.metadata && { metadata: request.metadata }),
    // A time that has passed means now: the message must not appear scheduled forever.
    ...(scheduledAt && scheduledAt > clock.now() && { scheduledAt }),
    ...(idem && { idem }),
  }
}

const CR = 0x0d
const LF = 0x0a

/** A message with bare LF has them as CRLF afterwards; worked on in turns, because it may have millions of lines. */
async function toCrlf(raw: Buffer): Promise<Buffer> {
  const bare = await countBare(raw)
  if (bare === 0) return raw
  const repaired = Buffer.allocUnsafeSlow(raw.length + bare)
  let to = 0
  for (let start = 0; start < raw.length; start += TURN_BYTES) {
    const end = Math.min(raw.length, start + TURN_BYTES)
    for (let at = start; at < end; at++) {
      const octet = raw[at] ?? 0
      if (octet === LF && raw[at - 1] !== CR) repaired[to++] = CR
      repaired[to++] = octet
    }
    if (end < raw.length) await nextTurn()
  }
  return repaired
}

async function countBare(raw: Buffer): Promise<number> {
  let bare = 0
  let turn = TURN_BYTES
  for (let at = raw.indexOf(LF); at !== -1; at = raw.indexOf(LF, at + 1)) {
    if (raw[at - 1] !== CR) bare++
    if (at < turn) continue
    turn = at + TURN_BYTES
    await nextTurn()
  }
  return bare
}
