/** The way out of capture mode: in place of the socket, a collection. Everything else is as in direct mode. */

import type { Clock } from '../../platform/clock.ts'
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { saveCaptured } from '../store/captured.ts'
import type { RecipientOutcome, Sent, Transaction, Transport, Unopened } from './smtp/transport.ts'

/** How long captured mail is kept. */
const KEEP_MS = 7 * DAY_MS

type Mail = Parameters<typeof saveCaptured>[1][number]

/** Makes the transport. */
export function createCapture(mongo: Mongo, clock: Clock): Transport {
  const commit = createGroupCommit<Mail, true>({
    most: 200,
    mostBytes: 16 * 1024 * 1024,
    flights: 2,
    sizeOf: ({ raw }) => raw.length,
    async write(mails) {
      await saveCaptured(mongo, mails)
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
      mail_from: from,
      rcpts: recipients.map(({ email }) => email),
      raw: content,
      at,
      exp: new Date(at.getTime() + KEEP_MS),
    })
    return { kind: 'reply', stage: 'dot', reply: { code: 250, enhanced: '2.0.0', text: 'captured' } }
  }

  return {
    async send(_route, transaction): Promise<Sent> {
      const started = performance.now()
      const outcome = await deliver(transaction)
      return {
        outcomes: transaction.recipients.map(() => outcome),
        mx: 'capture',
        conversation: '-- captured: DELIVERY_MODE=capture sends nothing',
        dsn: false,
        delivered: true,
        ms: Math.round(performance.now() - started),
      }
    },
    stop: async () => undefined,
  }
}
