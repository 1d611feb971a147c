/** What reports that come in later change about recipients of accepted messages. */
import { collectionOf, DURABLE, type Mongo } from '../../platform/database/mongo.ts'
import { cellsOf } from './cells.ts'
import type { MessageDoc, RecipientState } from './documents.ts'
import { MESSAGES } from './messages.ts'
import { isFinal, type RecipientStatus } from './rules/email-status.ts'

/** A recipient that a report is about, with what is needed to act on it. */
export interface ReportedRecipient {
  message: ReportedMessage
  state: RecipientState
}

/** Fields of the message. */
export type ReportedMessage = Pick<
  MessageDoc,
  '_id' | 'user_id' | 'domain_id' | 'mail_from' | 'rcpts' | 'parts' | 'lane' | 'list' | 'dsn' | 'created_at' | 'exp'
>

const FIELDS = {
  ...{ user_id: 1, domain_id: 1, mail_from: 1, rcpts: 1, parts: 1, lane: 1, list: 1, dsn: 1 },
  ...{ created_at: 1, exp: 1 },
}

/** The recipient with this number of a message; undefined when the message is gone. */
export async function findReported(
  mongo: Mongo,
  messageId: string,
  recipient: number,
): Promise<ReportedRecipient | undefined> {
  const message = await collectionOf(mongo.db, MESSAGES).findOne<ReportedMessage>(
    { _id: messageId, ...cellsOf(mongo.db).of([messageId]) },
    { projection: FIELDS },
  )
  const state = message?.rcpts[recipient]
  return message && state ? { message, state } : undefined
}

/** A status that a report decides. */
export interface StatusReport {
  status: 'bounced' | 'complained'
  code?: number
  enhanced?: string
  /** Why it bounced: FailureKind of delivery. */
  kind?: string
  at: Date
  /** Id of the incoming message. */
  report: string
}

/** Statuses that a report may replace: what was delivered may bounce later, and a bounce does not exclude a complaint. */
const REPLACES: Record<StatusReport['status'], readonly RecipientStatus[]> = {
  bounced: ['delivered'],
  complained: ['delivered', 'bounced'],
}

/**
 * Gives a recipient the status of a report, unless its status is another one by now. Answers whether the status is that
 * of this report, so that a repeated call does as well. Durable.
 */
export async function noteReport(
  mongo: Mongo,
  messageId: string,
  recipient: number,
  { status, code, enhanced, kind, at, report }: StatusReport,
): Promise<boolean> {
  const field = (name: string) => `rcpts.${recipient}.${name}`
  const change = {
    [field('status')]: status,
    [field('at')]: at,
    [field('report')]: report,
    ...(code === undefined ? {} : { [field('code')]: code }),
    ...(enhanced === undefined ? {} : { [field('enhanced')]: enhanced }),
    ...(kind === undefined ? {} : { [field('kind')]: kind }),
  }
  const replaceable = { [field('status')]: { $in: REPLACES[status] } }
  const { matchedCount } = await collectionOf(mongo.db, MESSAGES).updateOne(
    {
      _id: messageId,
      ...cellsOf(mongo.db).of([messageId]),
      $or: [replaceable, { [field('report')]: report, [field('status')]: status }],
    },
    { $set: change },
    DURABLE,
  )
  return matchedCount === 1
}

/** True while attempts may still change the status of a recipient: a report that comes so early has to wait. */
export function isOpen({ status }: RecipientState): boolean {
  return !isFinal(status)
}
