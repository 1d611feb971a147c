/** What people ask of the log, with the values of a message that is in it. */
import { failingDestinations } from '../../../services/mail/log/store/failing-destinations.ts'
import { countMessages, listMessages } from '../../../services/mail/log/store/list-messages.ts'
import type { LogFilters } from '../../../services/mail/log/store/log-filters.ts'
import { findMessage } from '../../../services/mail/log/store/message-log.ts'
import { statsOfDays } from '../../../services/mail/log/store/stats.ts'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import type { Db } from '../../../services/platform/database/mongo.ts'
import { TOKENS } from './messages.ts'

/** A question, asked for one message among many. Answers how much was found, and whether a page was empty before the end. */
export type Question = (one: MessageDoc) => Promise<{ found: number; isEmptyPage: boolean }>

const HOUR_MS = 3_600_000

const domainOf = ({ rcpts }: MessageDoc) => rcpts[0]?.email.split('@')[1] ?? ''
const words = ({ subject }: MessageDoc) => subject.replace(/\d+/, '')

/** Filters of the list by name. */
const FILTERS: Readonly<Record<string, (one: MessageDoc, n: number) => LogFilters>> = {
  'first page': () => ({}),
  'status deferred': () => ({ status: 'deferred' }),
  'status bounced': () => ({ status: 'bounced' }),
  'four statuses': () => ({ status: ['deferred', 'bounced', 'failed', 'suppressed'] }),
  'reason: address': () => ({ reason: 'address' }),
  'an hour': ({ created_at: at }) => ({ since: at, until: new Date(at.getTime() + HOUR_MS) }),
  'bounced within an hour': ({ created_at: at }) => ({
    ...{ status: 'bounced', since: at, until: new Date(at.getTime() + HOUR_MS) },
  }),
  'sender domain': () => ({ domain: 'example.org' }),
  tag: () => ({ tag: 'kind:welcome' }),
  token: (_, n) => ({ submitted_with: `tok_${n % TOKENS}` }),
  'to: recipient': ({ rcpts }) => ({ to: rcpts[0]?.email }),
  'to: beginning of a recipient': ({ rcpts }) => ({ to: rcpts[0]?.email.split('@')[0] }),
  'recipient domain': one => ({ recipient_domain: domainOf(one) }),
  'q: recipient': ({ rcpts }) => ({ q: rcpts[0]?.email }),
  'q: Message-ID': ({ message_id: id }) => ({ q: id }),
  'q: id': ({ _id }) => ({ q: _id }),
  'q: rare word of the subject': ({ subject }) => ({ q: /\d+/.exec(subject)?.[0] ?? 'reset password' }),
  'q: common words of the subject': one => ({ q: words(one) }),
  'q: Chinese': () => ({ q: '已发货' }),
  'q: recipient domain': one => ({ q: domainOf(one) }),
  'q: domain and word': one => ({ q: `${domainOf(one)} invoice` }),
  'q: nothing has it': ({ _id }) => ({ q: `none${_id.slice(-6)}` }),
  'q: two words that never meet': () => ({ q: 'invoice shipped' }),
}

/** Lists of 20 for an account, by name. */
export function listQuestions(db: Db, userId: string): Record<string, Question> {
  let n = 0
  const list = async (filters: LogFilters, after?: string) => {
    const page = await listMessages(db, userId, filters, { limit: 20, after })
    return { found: page.messages.length, isEmptyPage: page.messages.length === 0 && page.next !== null }
  }
  const lists = Object.entries(FILTERS).map(([name, filters]): [string, Question] => [
    name,
    one => list(filters(one, n++)),
  ])
  return { ...Object.fromEntries(lists), 'a page in the middle': ({ _id }) => list({}, _id) }
}

/** Other questions about an account, by name: those of every page, and those of the overview. */
export function otherQuestions(
  db: Db,
  userId: string,
  days: readonly string[],
): Record<'light' | 'heavy', Record<string, Question>> {
  const answer = (found: number) => ({ found, isEmptyPage: false })
  const light: Record<string, Question> = {
    'one message': async ({ _id }) => answer((await findMessage(db, userId, _id)) ? 1 : 0),
    'count of the bounced': async () => answer((await countMessages(db, userId, { status: 'bounced' })).count),
    'count of a recipient': async ({ rcpts }) =>
      answer((await countMessages(db, userId, { to: rcpts[0]?.email })).count),
    'statistics of 30 days': async () =>
      answer((await statsOfDays(db, userId, [...days], { now: new Date(), logDays: days.length })).length),
  }
  const heavy: Record<string, Question> = {
    'failing destinations of a day': async () =>
      answer((await failingDestinations(db, userId, new Date(Date.now() - 24 * HOUR_MS))).length),
  }
  return { light, heavy }
}
