/** Fills the queue with accepted messages: the documents of acceptance, in bulk inserts instead of transactions. */
import { randomBytes } from 'node:crypto'
import { toWrites } from '../../../services/mail/submission/store/message-documents.ts'
import { newId } from '../../../services/platform/ids.ts'
import type { Account, Testbed } from './testbed.ts'

/** Messages for the queue. Recipient number n is `<tag>.<n>@<domain>`. */
export interface SeedPlan {
  account: Account
  tag: string
  count: number
  domainOf(n: number): string
  relay?: boolean
  bytes?: number
}

const BATCH = 2_000
const FAST = { ordered: false, writeConcern: { w: 1 } } as const

/** Stores the messages, due immediately, the first one first. */
export async function seed(bed: Testbed, plan: SeedPlan): Promise<void> {
  const { bytes = 1_024, relay = false } = plan
  const placement = { slots: bed.slots, relay, bodyDays: 7, logDays: 30 }
  const text = randomBytes(bytes).toString('base64').slice(0, bytes).replaceAll(/.{72}/g, '$&\r\n')
  for (let from = 0; from < plan.count; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, plan.count - from) }, (_, index) => from + index)
    const writes = numbers.map(n => toWrites(message(plan, n, text), placement))
    await Promise.all([
      bed.mongo.db.collection('bodies').insertMany(writes.flatMap(({ bodies }) => bodies) as never[], FAST),
      bed.mongo.db.collection('messages').insertMany(writes.map(({ message: doc }) => doc) as never[], FAST),
    ])
    await bed.mongo.db.collection('deliveries').insertMany(writes.flatMap(each => each.deliveries) as never[], FAST)
  }
}

function message({ account, tag, domainOf }: SeedPlan, n: number, text: string) {
  const id = newId('em')
  const sender = `a@${account.domain}`
  const to = `${tag}.${n}@${domainOf(n)}`
  const header = `From: ${sender}\r\nTo: ${to}\r\nSubject: message ${n}\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <${id}@${account.domain}>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n`
  return {
    id,
    user_id: account.userId,
    domain_id: account.domainId,
    via: { channel: 'smtp' as const, id: 'bench' },
    mail_from: sender,
    from: sender,
    subject: `message ${n}`,
    message_id: `<${id}@${account.domain}>`,
    lane: 'transactional' as const,
    ambiguous: 'retry' as const,
    created_at: new Date(),
    raw: Buffer.from(`${header}${text}\r\n`),
    recipients: [{ email: to, type: 'envelope' as const }],
  }
}
