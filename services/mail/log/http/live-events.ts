/** Everything that happens in an account, from its three places: messages, the delivery log, domains and suppressions. */
import type { Db } from '../../../platform/database/mongo.ts'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { EventDoc, MessageDoc } from '../../store/documents.ts'
import { type AccountEventDoc, accountEventsSince } from '../../webhooks/store/account-events.ts'
import { eventsSince, messagesSince, sentFrom } from '../store/message-log.ts'
import { toEvent } from './email-views.ts'

/** An event on its way to a reader. */
export interface LiveEvent {
  _id: string
  at: Date
  type: string
  /** What the reader gets. */
  shown: object
  /** Message, and domain by its name: readers who are limited to some domains see only theirs. */
  about: { message: string } | { domain: string } | undefined
}

/** The events of an account from a time on, oldest first, at most `limit`. */
export async function readLiveEvents(db: Db, userId: string, since: Date, limit: number): Promise<LiveEvent[]> {
  const [messages, attempts, others] = await Promise.all([
    messagesSince(db, userId, since, limit),
    eventsSince(db, userId, since, limit),
    accountEventsSince(db, userId, since, limit),
  ])
  const all = [...messages.flatMap(ofMessage), ...attempts.map(ofAttempt), ...others.map(ofAccount)]
  return all.toSorted((a, b) => a.at.getTime() - b.at.getTime()).slice(0, limit)
}

/** Those that a caller who is limited to some sender domains may see; no domains: all. */
export async function visibleEvents(
  db: Db,
  userId: string,
  events: readonly LiveEvent[],
  domains: readonly string[],
): Promise<readonly LiveEvent[]> {
  if (domains.length === 0 || events.length === 0) return events
  const ids = new Set(events.flatMap(({ about }) => (about && 'message' in about ? [about.message] : [])))
  const own = await sentFrom(db, userId, ids, domains)
  return events.filter(({ about }) => {
    if (!about) return false
    return 'message' in about ? own.has(about.message) : domains.includes(about.domain)
  })
}

function ofMessage({ _id: id, rcpts, created_at: at, scheduled_at }: LiveMessage): LiveEvent[] {
  const text = scheduled_at
    ? sentence('delivery.scheduled', { at: scheduled_at.toISOString() })
    : sentence('delivery.accepted')
  return rcpts.flatMap(({ email }, n) => {
    const _id = `${id}.${n}#accepted`
    const codes = { attempt: null, smtp_code: null, enhanced_code: null, mx_host: null }
    const shown = {
      ...{ object: 'event', id: _id, type: 'email.accepted', timestamp: at.toISOString() },
      ...{ email_id: id, recipient: email, ...codes, ...sentenceFields('text', text), ambiguous: false },
    }
    return [{ _id, at, type: shown.type, shown, about: { message: id } }]
  })
}

function ofAttempt(event: EventDoc): LiveEvent {
  const shown = toEvent(event)
  return { _id: event._id, at: event.at, type: shown.type, shown, about: { message: event.m } }
}

function ofAccount({ _id, at, type, data }: AccountEventDoc): LiveEvent {
  const shown = { object: 'event', id: _id, type, timestamp: at.toISOString(), data }
  const domain = type.startsWith('domain.') && typeof data.name === 'string' ? data.name : undefined
  return { _id, at, type, shown, about: domain === undefined ? undefined : { domain } }
}

type LiveMessage = Pick<MessageDoc, '_id' | 'rcpts' | 'created_at' | 'scheduled_at'>
