/** The messages of a large log: one account has nine of ten, ten thousand others share the rest. */
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { newId } from '../../../services/platform/ids.ts'
import { createRandom, createZipf } from '../direct/site-class.ts'

/** Days that the log covers. */
export const DAYS = 30
/** Accounts that share a tenth of the messages. */
export const SMALL_ACCOUNTS = 10_000
/** Tokens with which the large account sends. */
export const TOKENS = 50

const DAY_MS = 86_400_000
const SUBJECTS = [
  'Your order # has shipped',
  'Invoice # for November',
  'Password reset',
  'Weekly report #',
  '订单 # 已发货',
]
const STATUSES = ['delivered', 'delivered', 'delivered', 'bounced'] as const
const TAGS = ['receipts', 'newsletter', 'security', 'reports', 'welcome']

/** What a log consists of. */
export interface Log {
  count: number
  /** Time of the newest message, milliseconds. */
  now: number
  /** The large account. */
  userId: string
}

/** When message number n was accepted. */
export function acceptedAt({ count, now }: Log, n: number): Date {
  return new Date(now - (DAYS * DAY_MS * (count - n)) / count)
}

/** Makes messages by number, in chronological order; the same ones for the same seed, except for their ids. */
export function createMessages(log: Log, seed: number): (n: number) => MessageDoc {
  const random = createRandom(seed)
  const domains = createZipf(2_000, random)
  return n => {
    const created = acceptedAt(log, n)
    const final = new Date(created.getTime() + 2_000)
    const email = `user${n}@d${domains()}.example`
    const bounced = STATUSES[Math.floor(random() * 40)] === 'bounced'
    const state =
      n > log.count - 1_000
        ? { status: 'deferred' as const, code: 450, enhanced: '4.2.0', kind: 'greylisted' }
        : bounced
          ? { status: 'bounced' as const, code: 550, enhanced: '5.1.1', kind: 'address' }
          : { status: 'delivered' as const, code: 250, enhanced: '2.0.0' }
    return {
      _id: newId('em', created.getTime()),
      user_id: n % 10 === 9 ? `usr_small${Math.floor(n / 10) % SMALL_ACCOUNTS}` : log.userId,
      domain_id: 'dom_1',
      via: { channel: 'http', id: `tok_${n % TOKENS}` },
      mail_from: 'bounce@example.org',
      from: 'shop@example.org',
      subject: (SUBJECTS[n % SUBJECTS.length] ?? '').replace('#', `${100_000 + n}`),
      message_id: `<${n}.${Math.floor(random() * 1e9)}@mailer.example.org>`,
      size: 4_000,
      parts: 1,
      ...(n % 4 === 0 && { tags: [{ name: 'kind', value: TAGS[(n / 4) % TAGS.length] ?? '' }] }),
      rcpts: [{ email, type: 'envelope', at: final, ...state }],
      left: 0,
      lane: 'transactional',
      ambiguous: 'retry',
      created_at: created,
      expires_at: new Date(created.getTime() + 3 * DAY_MS),
      final_at: final,
      exp: new Date(final.getTime() + 40 * DAY_MS),
    }
  }
}
