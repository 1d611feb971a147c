/** The way out of captured mail: in place of the socket, a collection. Everything else is as in direct mode. */

import type { Clock } from '../../platform/clock.ts'
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Config } from '../../platform/process/config.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import { isVerifiedDomain } from '../domains/store/domains.ts'
import { fieldText, parseHeader } from '../message/headers.ts'
import { saveCaptured } from '../store/captured.ts'
import { type InboxBounds, type InboxPlace, inboxKey, noteArrivals, trimInbox } from '../store/captured-inboxes.ts'
import { CAPTURE_SITE } from '../store/rules/assign-slot.ts'
import type { RecipientOutcome, Route, Sent, Transaction, Transport, Unopened } from './smtp/transport.ts'

/** Dependencies of {@link createCapture}. */
export interface CaptureOptions {
  mongo: Mongo
  clock: Clock
  log: Log
  config: Pick<Config, 'RETENTION_CAPTURED_DAYS' | 'CAPTURED_PER_DOMAIN' | 'CAPTURED_MB_PER_DOMAIN'>
}

/** How long a domain counts as it was verified or not, in milliseconds. */
const VERIFIED_AGE_MS = 30_000
/** Longest subject that is kept for lists, in characters. */
const MAX_SUBJECT = 998

type Mail = Parameters<typeof saveCaptured>[1][number] & { domain_id: string }

/** What the log of an attempt says, by the reason. */
const CONVERSATIONS: Readonly<Record<NonNullable<Route['capture']>, string>> = {
  installation: '-- captured: DELIVERY_MODE=capture sends nothing',
  domain: '-- captured: the domain is set to capture its mail',
  token: '-- captured: the token captures what is sent with it',
  report: '-- captured: a report on captured mail',
}

/** Makes the transport. A message counts as delivered once it can be read in the inbox. */
export function createCapture({ mongo, clock, log, config }: CaptureOptions): Transport {
  const bounds = { messages: config.CAPTURED_PER_DOMAIN, bytes: config.CAPTURED_MB_PER_DOMAIN * 1_000_000 }
  const verified = createTtlCache<boolean>({ ttlMs: VERIFIED_AGE_MS, max: 5_000, clock, isCacheable: () => true })
  const boundsOf = async ({ domainId: id }: InboxPlace) =>
    id === '' || (await verified.get(id, () => isVerifiedDomain(mongo.db, id))) ? bounds : boundsOfUnverified(bounds)
  const settle = async (places: readonly InboxPlace[], exp: Date) => {
    await noteArrivals(mongo, places, exp)
    for (const place of places) await trimInbox(mongo, place, await boundsOf(place))
  }
  const commit = createGroupCommit<Mail, true>({
    most: 200,
    mostBytes: 16 * 1024 * 1024,
    flights: 2,
    sizeOf: ({ raw }) => raw.length,
    async write(mails) {
      await saveCaptured(mongo, mails)
      const places = placesOf(mails)
      // The mail is stored. A failure here costs waiting readers their wake-up, or is made good with the next mail.
      await settle(places, latest(mails.map(({ exp }) => exp))).catch((error: unknown) =>
        log.warn({ err: error }, 'the inboxes of captured mail were not updated'),
      )
      return mails.map(() => true as const)
    },
  })

  const deliver = async (given: Transaction | Unopened): Promise<RecipientOutcome> => {
    const transaction = 'open' in given ? await given.open() : given
    if (!transaction || !(await transaction.mark()) || !transaction.mayFinish()) return { kind: 'withheld' }
    const { origin, from, recipients, content } = transaction
    const at = clock.now()
    await commit({
      _id: origin.deliveryId,
      m: origin.messageId,
      user_id: origin.userId,
      domain_id: origin.domainId,
      subject: subjectOf(content),
      mail_from: from,
      rcpts: recipients.map(({ email }) => email),
      raw: content,
      at,
      exp: new Date(at.getTime() + config.RETENTION_CAPTURED_DAYS * DAY_MS),
    })
    return { kind: 'reply', stage: 'dot', reply: { code: 250, enhanced: '2.0.0', text: 'captured' } }
  }

  return {
    async send({ capture = 'installation' }, transaction): Promise<Sent> {
      const started = performance.now()
      const outcome = await deliver(transaction)
      return {
        outcomes: transaction.recipients.map(() => outcome),
        mx: CAPTURE_SITE,
        conversation: CONVERSATIONS[capture],
        dsn: false,
        delivered: true,
        ms: Math.round(performance.now() - started),
      }
    },
    stop: async () => undefined,
  }
}

/** Registering a domain proves nothing, and an account may register many. */
function boundsOfUnverified({ messages, bytes }: InboxBounds): InboxBounds {
  return { messages: Math.ceil(messages / 10), bytes: Math.ceil(bytes / 10) }
}

/** A transport that captures what its route says, and sends the rest. */
export function withCapture(outbound: Transport, capture: Transport): Transport {
  return {
    send: (route, ...given) => (route.capture ? capture : outbound).send(route, ...given),
    stop: () => outbound.stop(),
  }
}

/** As the recipient would have read it. */
function subjectOf(content: Buffer): string {
  const header = parseHeader(content)
  const field = 'code' in header ? undefined : header.fields.find(({ name }) => name === 'subject')
  return field ? fieldText(field).slice(0, MAX_SUBJECT) : ''
}

function placesOf(mails: readonly Mail[]): InboxPlace[] {
  const places = mails.map(({ user_id, domain_id }) => ({ userId: user_id, domainId: domain_id }))
  return [...new Map(places.map(place => [inboxKey(place), place])).values()]
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map(time => time.getTime())))
}
