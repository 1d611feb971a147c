/** Reports to senders on what failed for good (RFC 3464), submitted as mail of the system itself. */

import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { buildDsn, type DsnRecipient, wantsReport } from '../message/delivery-status-notification.ts'
import type { Cells } from '../store/cells.ts'
import { recipientIndex } from '../store/delivery.ts'
import type { EventDoc, RecipientState, RecipientStatus } from '../store/documents.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { CAPTURE_SITE } from '../store/rules/assign-slot.ts'
import type { Enqueue } from '../submission/store/store-accepted.ts'
import { SYSTEM_USER } from '../submission/system-sender.ts'
import type { Result } from './batch/attempt-result.ts'
import type { FindCapture } from './find-capture.ts'
import { splitMessage } from './rules/dkim-signature-draft.ts'

/** Dependencies of {@link createReport}. */
export interface ReportOptions {
  enqueue: Enqueue
  /** The complete raw message. */
  readRaw(messageId: string, parts: number): Promise<Buffer | undefined>
  clock: Clock
  cells: Pick<Cells, 'newMessageIdFor'>
  /** Sender of reports in their header; the envelope sender is empty. */
  from: string
  /** This system's name. */
  hostname: string
}

/** Fields of the message that a report is about. */
type ReportedMessage = Pick<
  OutgoingMessage,
  '_id' | 'user_id' | 'mail_from' | 'parts' | 'dsn' | 'created_at' | 'capture'
>

/** Settlements are repeated within minutes; a worker that was away for a day finds its results settled by others. */
const KEY_LIFE_MS = DAY_MS
/** Ends that an account has brought about itself. */
const WITHDRAWN: readonly RecipientStatus[] = ['canceled', 'suppressed']
/** RET=FULL returns at most so much; above, the header (RFC 3461 section 6.2 allows it). */
const FULL_BYTES = 1024 * 1024

/**
 * Makes the function that sends what final results ask for, one report for all recipients of a message among them.
 * Never about mail with an empty sender. Rejects when a report could not be stored, so that the results stay; called
 * again with the same results it sends nothing more.
 */
export function createReport(
  options: ReportOptions & { findCapture: FindCapture },
): (results: readonly Result[]) => Promise<void> {
  return async results => {
    const due = results.flatMap(result => {
      const recipient = toRecipient(result)
      return recipient && result.message.mail_from !== '' ? [{ result, recipient }] : []
    })
    if (due.length === 0) return
    const byMessage = Map.groupBy(due, ({ result }) => result.message._id)
    for (const entries of byMessage.values()) {
      const [first] = entries
      if (first)
        await send(
          options,
          { ...first.result.message, ...((await isCaptured(options, entries)) && { capture: 'domain' }) },
          entries.map(({ recipient }) => recipient),
          entries.map(({ result }) => result.event._id),
        )
    }
  }
}

/**
 * A report on captured mail is captured as well. What failed without a transport, or expired, names no host: then it goes by
 * what the domain is set to now.
 */
async function isCaptured(
  { findCapture }: { findCapture: FindCapture },
  entries: readonly { result: Result }[],
): Promise<boolean> {
  if (entries.some(({ result }) => result.event.mx === CAPTURE_SITE)) return true
  const [first] = entries
  return first !== undefined && (await findCapture(first.result.message)) !== undefined
}

/**
 * Reports to the sender what a receiving server reported later, if the sender asked for it: never about mail with an empty
 * sender. Rejects when the report could not be stored; called again for the same event it sends nothing more.
 */
export type LateReport = (
  about: { message: ReportedMessage; state: RecipientState },
  action: DsnRecipient['action'],
  event: EventDoc,
) => Promise<void>

/** Makes the function for reports that come in. */
export function createLateReport(options: ReportOptions): LateReport {
  return async ({ message, state }, action, event) => {
    if (message.mail_from === '' || !wantsReport(state.notify, action)) return
    const recipient: DsnRecipient = {
      email: state.email,
      action,
      status: action === 'failed' ? (event.enhanced ?? '5.0.0').replace(/^[24]/, '5') : '2.0.0',
      diagnostic: event.text,
      at: event.at,
      ...(state.orcpt && { orcpt: state.orcpt }),
      ...(event.mx && { remote: event.mx }),
    }
    await send(options, message, [recipient], [event._id])
  }
}

/** A recipient in a report; undefined when none is requested. */
function toRecipient(result: Result): DsnRecipient | undefined {
  const { delivery, message, event, next, reportsItself } = result
  // The account that canceled it, or that sends this recipient nothing, knows.
  if (next.kind === 'retry' || (next.kind === 'end' && WITHDRAWN.includes(next.status))) return undefined
  const state = message.rcpts[recipientIndex(delivery.id)]
  const action = next.kind !== 'delivered' ? 'failed' : result.inMailbox ? 'delivered' : 'relayed'
  if ((action === 'relayed' && reportsItself) || !wantsReport(state?.notify, action)) return undefined
  // An expired delivery failed for good, though its last reply was a passing one.
  const status = action === 'failed' ? (event.enhanced ?? '5.0.0').replace(/^[24]/, '5') : '2.0.0'
  return {
    email: delivery.recipient,
    action,
    status: event.type === 'expired' ? '5.4.7' : status,
    diagnostic: event.text,
    at: event.at,
    ...(state?.orcpt && { orcpt: state.orcpt }),
    ...(event.mx && { remote: event.mx }),
  }
}

async function send(
  { enqueue, readRaw, clock, cells, from, hostname }: ReportOptions,
  message: ReportedMessage,
  recipients: readonly DsnRecipient[],
  attempts: readonly string[],
): Promise<void> {
  const raw = (await readRaw(message._id, message.parts)) ?? Buffer.alloc(0)
  const full = message.dsn?.ret === 'FULL' && raw.length <= FULL_BYTES
  const now = clock.now()
  const idem = keyOf(attempts, now)
  const id = cells.newMessageIdFor(SYSTEM_USER, idem.key, now)
  const messageId = `<${id}@${hostname}>`
  const report = buildDsn({
    from,
    to: message.mail_from,
    reportingMta: hostname,
    messageId,
    boundary: `=_${randomBytes(18).toString('base64url')}`,
    at: now,
    arrivedAt: message.created_at,
    ...(message.dsn?.envid && { envid: message.dsn.envid }),
    recipients,
    original: { bytes: full ? raw : Buffer.from(splitMessage(raw).header, 'latin1'), full },
  })
  const outcome = await enqueue({
    id,
    user_id: SYSTEM_USER,
    report_for: message.user_id,
    ...(message.capture && { capture: 'report' }),
    domain_id: '',
    via: { channel: 'system' },
    mail_from: '',
    from,
    subject: 'Delivery report',
    message_id: messageId,
    lane: 'system',
    ambiguous: 'retry',
    created_at: now,
    raw: report,
    recipients: [{ email: message.mail_from, type: 'envelope' }],
    idem,
  })
  // key_taken: it is in the queue already, or has gone out.
  if (outcome.kind === 'unavailable') throw new Error('a delivery report could not be stored')
}

/** A report on the same attempts is the same report. */
function keyOf(attempts: readonly string[], now: Date) {
  const hash = createHash('sha256').update(attempts.toSorted().join('\n')).digest('base64url')
  return { key: `report:${hash}`, hash, answer: '[]', until: new Date(now.getTime() + KEY_LIFE_MS) }
}
