/** Turns an accepted message into the documents of its collections. */
import { domainToASCII } from 'node:url'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import type { Sentence } from '../../../platform/sentences/sentence.ts'
import { type PackedPart, partsOfBody, toBodyDoc, toBodyDocs } from '../../store/bodies.ts'
import type { BodyDoc, DeliveryDoc, EventDoc, MessageDoc, RecipientState } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import { CAPTURE_SITE, siteOf, slotOf } from '../../store/rules/assign-slot.ts'
import { cellOf } from '../../store/rules/cell.ts'
import { explained } from '../../store/rules/explanation.ts'
import { flowOf } from '../../store/rules/flow.ts'
import { simulate } from '../../store/rules/simulation.ts'
import type { MailWebhookEventDoc } from '../../webhooks/store/webhook-collections.ts'

/** A recipient of a new message. */
export interface NewRecipient extends Pick<RecipientState, 'email' | 'type' | 'notify' | 'orcpt'> {
  /** Why it gets nothing, for the delivery log; absent: it gets the message. */
  suppressed?: Sentence
}

/** An accepted message, or one of the system; `raw` is what goes to the wire apart from signatures. */
export interface NewMessage
  extends Pick<
    MessageDoc,
    | 'user_id'
    | 'domain_id'
    | 'via'
    | 'mail_from'
    | 'report_for'
    | 'capture'
    | 'redirected_from'
    | 'tls_report'
    | 'from'
    | 'subject'
    | 'message_id'
    | 'lane'
    | 'list'
    | 'own_fields'
    | 'track'
    | 'ambiguous'
    | 'test'
    | 'tags'
    | 'metadata'
    | 'template'
    | 'idem'
    | 'scheduled_at'
    | 'dsn'
    | 'smtputf8'
    | 'body8bit'
    | 'created_at'
  > {
  /** `em_…`, made by the caller, because headers name it. */
  id: string
  raw: Buffer
  /** What follows `raw` and is stored already, as parts 1 and on: the body of a large message (staged-body.ts). */
  rest?: { size: number; parts: number }
  recipients: readonly NewRecipient[]
  /** Latest time of an attempt; default created_at + 72 h, counted from scheduled_at where there is one. */
  expires_at?: Date | undefined
}

/** Where deliveries go and how long documents stay. */
export interface Placement {
  /** Number of slots of a cell of this database. */
  slots: number
  /** DELIVERY_MODE=relay: one next hop for everything. */
  relay: boolean
  bodyDays: number
  logDays: number
}

/** How many recipients get the message: those that are not suppressed. */
export function recipientsToSend({ recipients }: Pick<NewMessage, 'recipients'>): number {
  return recipients.filter(({ suppressed }) => !suppressed).length
}

/** Everything that acceptance of one message writes. */
export interface MessageWrites {
  message: MessageDoc
  deliveries: DeliveryDoc[]
  bodies: BodyDoc[]
  /** Of test messages their simulated outcome, and of suppressed recipients why they are left out. */
  events: EventDoc[]
  /** For webhooks of the account. */
  webhookEvents?: readonly MailWebhookEventDoc[]
}

/** Default time that a message may stay in the queue. */
export const LIFETIME_MS = 72 * HOUR_MS

/**
 * All documents of a message. A test message gets events instead of deliveries: it is final at once. `packed`: the parts
 * of its body, when they were compressed before.
 */
export function toWrites(given: NewMessage, placement: Placement, packed?: readonly PackedPart[]): MessageWrites {
  const { id, raw, rest, recipients, expires_at, ...fields } = given
  const start = given.scheduled_at ?? given.created_at
  const expires = expires_at ?? new Date(start.getTime() + LIFETIME_MS)
  const removal = (days: number) => new Date(expires.getTime() + days * DAY_MS)
  const exp = removal(placement.logDays)
  const bodyExp = removal(placement.bodyDays)
  const message: MessageDoc = {
    _id: id,
    cell: cellOf(id),
    ...fields,
    size: raw.length + (rest?.size ?? 0),
    parts: rest ? 1 + rest.parts : partsOfBody(raw.length),
    rcpts: recipients.map(recipient => toState(recipient, given)),
    left: given.test ? 0 : recipientsToSend(given),
    expires_at: expires,
    ...(given.test && { final_at: given.created_at }),
    exp,
  }
  return {
    message,
    // The numbers of the rest begin at 1, however much the header has grown.
    bodies: rest ? [toBodyDoc(id, 0, raw, bodyExp)] : toBodyDocs(id, raw, bodyExp, packed),
    deliveries: given.test
      ? []
      : recipients.flatMap(({ email, suppressed }, n) =>
          suppressed ? [] : [toDelivery(email, n, message, start, placement)],
        ),
    events: recipients.flatMap(({ email, suppressed }, n) => {
      if (suppressed) return [toSuppressedEvent(email, n, message, suppressed)]
      return given.test ? toSimulatedEvents(email, n, message) : []
    }),
  }
}

function toState({ suppressed, ...recipient }: NewRecipient, given: NewMessage): RecipientState {
  if (suppressed) return { ...recipient, status: 'suppressed', at: given.created_at }
  const last = given.test && simulate(recipient.email).at(-1)
  if (last) return { ...recipient, status: last.type, code: last.code, enhanced: last.enhanced, at: given.created_at }
  return { ...recipient, status: given.scheduled_at ? 'scheduled' : 'queued' }
}

function toDelivery(rcpt: string, n: number, message: MessageDoc, due: Date, placement: Placement): DeliveryDoc {
  const site = message.capture ? CAPTURE_SITE : siteOf(domainOf(rcpt))
  const slot = slotOf(site, message._id, placement.slots, placement.relay)
  const { user_id, lane } = message
  return {
    _id: `${message._id}.${n}`,
    cell: cellOf(message._id),
    m: message._id,
    user_id,
    rcpt,
    site,
    slot,
    lane,
    ...(due <= message.created_at && { flow: flowOf({ slot, site, user_id, lane }, placement.relay) }),
    due,
    att: 0,
    expires_at: message.expires_at,
    created_at: message.created_at,
  }
}

function toSuppressedEvent(rcpt: string, n: number, message: MessageDoc, reason: Sentence): EventDoc {
  return {
    _id: eventId(`${message._id}.${n}`, 1),
    cell: cellOf(message._id),
    m: message._id,
    user_id: message.user_id,
    rcpt,
    attempt: 1,
    type: 'suppressed',
    at: message.created_at,
    ms: 0,
    ...explained(reason),
    exp: message.exp,
  }
}

function toSimulatedEvents(rcpt: string, n: number, message: MessageDoc): EventDoc[] {
  return simulate(rcpt).map((attempt, index) => ({
    _id: eventId(`${message._id}.${n}`, index + 1),
    cell: cellOf(message._id),
    m: message._id,
    user_id: message.user_id,
    rcpt,
    attempt: index + 1,
    at: message.created_at,
    ms: 0,
    exp: message.exp,
    ...attempt,
  }))
}

/** Domain of an address as a lower-case A-label; an address literal stays as it is. */
function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return domainToASCII(domain) || domain
}
