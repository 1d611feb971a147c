/** Mail of the platform itself: from SYSTEM_MAIL_FROM or a sender that an administrator set, in the lane of its own, each key once. */
import { createHash } from 'node:crypto'
import { DAY_MS } from '../../platform/durations.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { cellsOf } from '../store/cells.ts'
import { fixSlotCount } from '../store/slots.ts'
import { wakeOf } from '../store/wake.ts'
import { unsubscribeFields } from '../streams/rules/unsubscribe-fields.ts'
import { divertMessage } from './divert-message.ts'
import { createEnqueue, type Enqueue } from './store/store-accepted.ts'
import { createSystemSenders, SYSTEM_USER, type SystemSender } from './system-sender.ts'

/** A mail to one recipient. */
export interface SystemMail {
  /** The same key always means the same mail; a second one with it is not sent. */
  key: string
  /** Another sender. Outside of the verified domains of administrators it is not used: SYSTEM_MAIL_FROM is. */
  from?: string
  to: string
  subject: string
  text: string
  /** Where the recipient, or a mail program at one click, ends such mail. */
  unsubscribeUrl?: string
}

/** Stores the mail durably in the queue. Rejects when the queue cannot take it. */
export type SendSystemMail = (mail: SystemMail) => Promise<void>

/** How long a key is remembered: longer than anything repeats a mail. */
const KEY_LIFE_MS = 40 * DAY_MS

/** Opens the way for the platform's own mail. */
export async function createSystemMail(foundation: Omit<Foundation, 'secrets'>): Promise<SendSystemMail> {
  const { config, log, mongo, clock } = foundation
  const enqueue = await createSystemEnqueue(foundation)
  const own = { from: config.SYSTEM_MAIL_FROM ?? `postmaster@${config.MAIL_HOSTNAME}`, domainId: '' }
  const findSender = createSystemSenders(foundation)
  const senderOf = async (wanted: string | undefined): Promise<Omit<SystemSender, 'owner'>> => {
    if (wanted === undefined) return own
    const sender = await findSender(wanted)
    if (sender) return sender
    log.warn({ from: wanted }, 'the sender is in no verified domain of an administrator; SYSTEM_MAIL_FROM is used')
    return own
  }
  return async ({ key, from: wanted, to, subject, text, unsubscribeUrl }) => {
    const { from, domainId, diversion } = await senderOf(wanted)
    const diverted = await divertMessage({ capture: false, diversion }, [{ email: to, type: 'to' }], async all => all)
    const now = clock.now()
    const id = cellsOf(mongo.db).newMessageIdFor(SYSTEM_USER, `system:${key}`, now)
    const messageId = `<${id}@${config.MAIL_HOSTNAME}>`
    const mailbox = (email: string) => ({ name: '', email })
    const headers = new Map([...AUTOMATIC, ...(unsubscribeUrl ? unsubscribeFields({ url: unsubscribeUrl }) : [])])
    const request = { from: mailbox(from), to: [mailbox(to)], subject, text, headers }
    // Loaded by the first mail: the composer takes 3 MiB, and a worker that sends no reminders has no use for it.
    const { compose } = await import('./compose.ts')
    const outcome = await enqueue({
      id,
      user_id: SYSTEM_USER,
      domain_id: domainId,
      via: { channel: 'system' },
      mail_from: from,
      from,
      subject,
      message_id: messageId,
      lane: 'system',
      ambiguous: 'retry',
      created_at: now,
      idem: {
        key: `system:${key}`,
        hash: createHash('sha256').update(`${to}\n${subject}\n${text}`).digest('hex'),
        answer: '[]',
        until: new Date(now.getTime() + KEY_LIFE_MS),
      },
      raw: await compose(request, { messageId, date: now }),
      ...diverted,
    })
    // key_taken: it is in the queue already, or has gone out.
    if (outcome.kind === 'unavailable') throw new Error(`the queue cannot take the mail: ${outcome.reason}`)
  }
}

/** Stores messages that the platform composes itself. Called once per process. */
export async function createSystemEnqueue({
  config,
  log,
  metrics,
  mongo,
}: Pick<Foundation, 'config' | 'log' | 'metrics' | 'mongo'>): Promise<Enqueue> {
  const wake = wakeOf(mongo)
  return createEnqueue({
    mongo,
    log,
    metrics,
    slots: await fixSlotCount(mongo, config.SLOTS),
    relay: config.DELIVERY_MODE === 'relay',
    bodyDays: config.RETENTION_BODY_DAYS,
    logDays: config.RETENTION_LOG_DAYS,
    wake: (slots, flows) => wake.ring(slots, flows),
  })
}

/** Vacation responders leave such mail alone (RFC 3834 section 5). */
const AUTOMATIC = new Map([['Auto-Submitted', 'auto-generated']])
