/** Turns an accepted message into the documents of its collections. */
import { domainToASCII } from 'node:url'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import { type PackedPart, partsOfBody, toBodyDoc, toBodyDocs } from '../../store/bodies.ts'
import type { BodyDoc, DeliveryDoc, EventDoc, MessageDoc, RecipientState } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import { siteOf, slotOf } from '../../store/rules/assign-slot.ts'
import { flowOf } from '../../store/rules/flow.ts'
import { simulate } from '../rules/simulation.ts'

/** An accepted message, or one of the system; `raw` is what goes to the wire apart from signatures. */
export interface NewMessage
  extends Pick<
    MessageDoc,
    | 'user_id'
    | 'domain_id'
    | 'via'
    | 'mail_from'
    | 'report_for'
    | 'from'
    | 'subject'
    | 'message_id'
    | 'lane'
    | 'ambiguous'
    | 'test'
    | 'tags'
    | 'metadata'
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
  recipients: readonly Pick<RecipientState, 'email' | 'type' | 'notify' | 'orcpt'>[]
  /** Latest time of an attempt; default created_at + 72 h, counted from scheduled_at where there is one. */
  expires_at?: Date | undefined
}

/** Where deliveries go and how long documents stay. */
export interface Placement {
  /** Number of slots of this database. */
  slots: number
  /** DELIVERY_MODE=relay: one next hop for everything. */
  relay: boolean
  bodyDays: number
  logDays: number
}

/** Everything that acceptance of one message writes. */
export interface MessageWrites {
  message: MessageDoc
  deliveries: DeliveryDoc[]
  bodies: BodyDoc[]
  /** Only of test messages: their simulated outcome. */
  events: EventDoc[]
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
    ...fields,
    size: raw.length + (rest?.size ?? 0),
    parts: rest ? 1 + rest.parts : partsOfBody(raw.length),
    rcpts: recipients.map(recipient => toState(recipient, given)),
    left: given.test ? 0 : recipients.length,
    expires_at: expires,
    ...(given.test && { final_at: given.created_at }),
    exp,
  }
  return {
    message,
    // The numbers of the rest begin at 1, however much the header has grown.
    bodies: rest ? [toBodyDoc(id, 0, raw, bodyExp)] : toBodyDocs(id, raw, bodyExp, packed),
    deliveries: given.test ? [] : recipients.map(({ email }, n) => toDelivery(email, n, message, start, placement)),
    events: given.test ? recipients.flatMap(({ email }, n) => toSimulatedEvents(email, n, message)) : [],
  }
}

function toState(recipient: NewMessage['recipients'][number], given: NewMessage): RecipientState {
  const last = given.test && simulate(recipient.email).at(-1)
  if (last) return { ...recipient, status: last.type, code: last.code, enhanced: last.enhanced, at: given.created_at }
  return { ...recipient, status: given.scheduled_at ? 'scheduled' : 'queued' }
}

function toDelivery(rcpt: string, n: number, message: MessageDoc, due: Date, placement: Placement): DeliveryDoc {
  const site = siteOf(domainOf(rcpt))
  const slot = slotOf(site, message._id, placement.slots, placement.relay)
  const { user_id, lane } = message
  return {
    _id: `${message._id}.${n}`,
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

function toSimulatedEvents(rcpt: string, n: number, message: MessageDoc): EventDoc[] {
  return simulate(rcpt).map((attempt, index) => ({
    _id: eventId(`${message._id}.${n}`, index + 1),
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
