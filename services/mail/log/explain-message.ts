/** Explains the recipients of a message, with the evidence: replies, DNS of the sending domain, destinations, suppressions. */
import type { Db, Mongo } from '../../platform/database/mongo.ts'
import { findHoldsOf, type HoldDoc } from '../delivery/control/store/holds.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { findDomainById } from '../domains/store/domains.ts'
import type { DeliveryDoc, EventDoc, MessageDoc, RecipientState, SiteDoc } from '../store/documents.ts'
import { holdOfFlow } from '../store/rules/flow.ts'
import { streamName } from '../store/rules/stream.ts'
import { findSites } from '../store/sites.ts'
import { type SuppressionState, suppressionAddress, suppressionFor } from '../suppressions/rules/suppression.ts'
import { findSuppressions } from '../suppressions/store/suppressions.ts'
import { type Explanation, explainRecipient, type HoldFacts } from './rules/explain-recipient.ts'
import { deliveriesOf, eventsOf } from './store/message-log.ts'

/** Rows of the DNS check that receivers authenticate a sender by. */
const AUTHENTICATING = /^(?:spf|dmarc|ptr|dkim:|return_path)/

/** One recipient with its explanation and what it rests on. */
export interface ExplainedRecipient extends Explanation {
  recipient: RecipientState
  /** Records of the sending domain as the last check saw them; for refused authentication only. */
  dns?: { at: Date; records: NonNullable<DomainDoc['check']>['records'] } | undefined
  /** State of the destination while it is in trouble; for recipients that wait. */
  destination?: SiteDoc | undefined
  /** The entry that applies now; for suppressed recipients. */
  suppression?: SuppressionState | undefined
}

/** In the order of the recipients. Reads a bounded number of documents: those of this message, and one domain. */
export async function explainMessage({ db }: Mongo, message: MessageDoc, now: Date): Promise<ExplainedRecipient[]> {
  const [events, waiting] = await Promise.all([eventsOf(db, message._id), deliveriesOf(db, message._id)])
  const [holds, sites] = await Promise.all([findHoldsOf(db, waiting), sitesOf(db, waiting)])
  const deliveries = new Map(waiting.map(delivery => [delivery._id, delivery]))
  const byRecipient = Map.groupBy(events, numberOf)
  const explained = message.rcpts.map((recipient, n): ExplainedRecipient => {
    const delivery = deliveries.get(`${message._id}.${n}`)
    const hold = holdFacts(holds.get(holdOfFlow(delivery?.flow ?? '')))
    const facts = { message, recipient, events: byRecipient.get(n) ?? [], waiting: delivery, hold }
    return { recipient, ...explainRecipient(facts), destination: delivery && sites.get(delivery.site) }
  })
  return withCauses(db, message, explained, now)
}

/** Adds what only some recipients need, with one query for each kind. */
async function withCauses(
  db: Db,
  message: MessageDoc,
  explained: readonly ExplainedRecipient[],
  now: Date,
): Promise<ExplainedRecipient[]> {
  const refused = explained.some(({ kind }) => kind === 'authentication')
  const emails = explained
    .filter(({ recipient }) => recipient.status === 'suppressed')
    .map(({ recipient }) => suppressionAddress(recipient.email))
  const [domain, entries] = await Promise.all([
    refused ? findDomainById(db, message.domain_id) : undefined,
    findSuppressions(db, [{ userId: message.user_id, emails }]),
  ])
  const check = domain?.check
  const dns = check && { at: check.at, records: check.records.filter(({ row }) => AUTHENTICATING.test(row)) }
  return explained.map(one => ({
    ...one,
    ...(one.kind === 'authentication' ? { dns } : {}),
    ...(one.recipient.status === 'suppressed'
      ? { suppression: suppressionFor(ofAddress(entries, one.recipient.email), streamName(message), now) }
      : {}),
  }))
}

function ofAddress<T extends { email: string }>(entries: readonly T[], email: string): T[] {
  return entries.filter(entry => entry.email === suppressionAddress(email))
}

function holdFacts(hold: HoldDoc | undefined): HoldFacts | undefined {
  return hold && { by: hold.by.name, reason: hold.reason }
}

async function sitesOf(db: Db, waiting: readonly DeliveryDoc[]): Promise<ReadonlyMap<string, SiteDoc>> {
  const sites = await findSites(db, [...new Set(waiting.map(({ site }) => site))])
  return new Map(sites.filter(({ state }) => state !== 'up').map(site => [site._id, site]))
}

/** Number of the recipient in the id of an event: `<message>.<n>#<attempt>`. */
function numberOf({ _id, m }: EventDoc): number {
  return Number.parseInt(_id.slice(m.length + 1), 10)
}
