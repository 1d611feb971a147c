/** The SMTP way out: a kept session or a new one, one transaction, and what happened. */
import { type ConnectorOptions, createConnector } from './hosts.ts'
import { createPool } from './pool.ts'
import type { RecipientOutcome, Session } from './transaction.ts'
import type { Sent, Transport } from './transport.ts'

/** What the SMTP transport needs. */
export interface OutboundOptions extends ConnectorOptions {
  /** Told the number of open connections. */
  onConnections(count: number): void
}

/** Makes the SMTP transport. */
export function createOutbound(options: OutboundOptions): Transport {
  const pool = createPool(options)
  const connect = createConnector(options)
  return {
    async send(route, transaction, messagesPerConnection) {
      const started = performance.now()
      const done = (session: Session | undefined, outcomes: RecipientOutcome[], conversation: string): Sent => ({
        outcomes,
        mx: session?.options.host,
        ip: session?.options.ip,
        tls: session?.wire.tls,
        conversation,
        dsn: session?.offers('DSN') ?? false,
        ms: Math.round(performance.now() - started),
      })
      for (;;) {
        const held = pool.take(route.key)
        const found = held ? { session: held } : await connect(route)
        if (!('session' in found))
          return {
            ...done(
              undefined,
              transaction.recipients.map(() => found.outcome),
              found.notes.join('\n').slice(0, 4_000),
            ),
            unreachable: found.unreachable,
          }
        const { session } = found
        if (!held) pool.opened()
        const outcomes = await session.transact(transaction)
        // A kept connection that the server closed meanwhile says nothing about the message: take another.
        if (held && outcomes.every(closedBefore)) {
          pool.gone(session)
          continue
        }
        const sent = done(session, outcomes, session.takeConversation())
        pool.put(route.key, session, messagesPerConnection)
        return sent
      }
    },
    stop: async () => pool.stop(),
  }
}

/** The connection broke, or the server said that it closes, before anything of the message went out. */
function closedBefore(outcome: RecipientOutcome): boolean {
  return (
    outcome.kind === 'error' || (outcome.kind === 'reply' && outcome.stage === 'mail' && outcome.reply.code === 421)
  )
}
