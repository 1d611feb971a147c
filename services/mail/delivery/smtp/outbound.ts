/** The SMTP transport: a kept session or a new one, one transaction, and what happened. */
import { Connector, type ConnectorOptions } from './hosts.ts'
import { createPool } from './pool.ts'
import type { Session } from './session.ts'
import { type CountTls, tallyOf } from './tls-tally.ts'
import type { Recipient, RecipientOutcome, Route, Sent, Transaction, Transport, Unopened } from './transport.ts'

/** Dependencies of {@link createOutbound}. */
export interface OutboundOptions extends ConnectorOptions {
  /** Called with the number of open connections when it changes. */
  onConnections(count: number): void
  /** Counts the TLS results of sessions; default: they are not counted. */
  countTls?: CountTls | undefined
}

/** Makes the SMTP transport. */
export function createOutbound(options: OutboundOptions): Transport {
  const pool = createPool(options)
  const connector = new Connector(options)

  /** Makes the function that gives the transaction for an open session; `closed`: the server did not wait for it. */
  const openingOf = (given: Transaction | Unopened) => {
    let ready = 'open' in given ? undefined : given
    return async (session: Session): Promise<Transaction | 'closed' | undefined> => {
      if (ready || !('open' in given)) return ready
      try {
        ready = await given.open()
      } catch (error) {
        pool.gone(session)
        throw error
      }
      return ready && !session.wire.usable ? 'closed' : ready
    }
  }

  /** A kept session or a new one. */
  const sessionOf = async (route: Route, recipients: readonly Recipient[]) => {
    const tally = tallyOf(options, route, recipients)
    const held = pool.take(route.key)
    if (held) {
      tally?.used(held)
      return { session: held, held: true }
    }
    const found = await connector.connect(route, tally?.failed)
    if (!('session' in found)) return found
    pool.opened()
    tally?.used(found.session)
    return { session: found.session, held: false }
  }

  return {
    async send(route, given, messagesPerConnection) {
      const started = performance.now()
      const all = (outcome: RecipientOutcome) => given.recipients.map(() => outcome)
      const open = openingOf(given)
      const once = async (): Promise<Sent | undefined> => {
        const found = await sessionOf(route, given.recipients)
        if (!('session' in found)) {
          const notes = found.notes.join('\n').slice(0, 4_000)
          return { ...sent(started, undefined, all(found.outcome), notes), unreachable: found.unreachable }
        }
        const { session, held } = found
        const transaction = await open(session)
        if (!transaction) {
          pool.put(route.key, session, messagesPerConnection)
          return sent(started, undefined, all({ kind: 'withheld' }), '')
        }
        const outcomes = transaction === 'closed' ? undefined : await session.transact(transaction)
        // A kept connection that the server has closed is no evidence about the message: take another.
        if (!outcomes || (held && outcomes.every(closedBefore))) {
          pool.gone(session)
          return undefined
        }
        const done = sent(started, session, outcomes, session.takeConversation())
        pool.put(route.key, session, messagesPerConnection)
        return done
      }
      for (;;) {
        const done = await once()
        if (done) return done
      }
    },
    stop: async () => pool.stop(),
  }
}

/** `started`: by performance.now(). */
function sent(started: number, session: Session | undefined, outcomes: RecipientOutcome[], conversation: string): Sent {
  return {
    outcomes,
    mx: session?.options.host,
    ip: session?.options.ip,
    tls: session?.wire.tls,
    conversation,
    dsn: session?.offers('DSN') ?? false,
    ms: Math.round(performance.now() - started),
  }
}

/** The connection broke, or the server announced its end, before anything of the message was sent. */
function closedBefore(outcome: RecipientOutcome): boolean {
  return (
    outcome.kind === 'error' || (outcome.kind === 'reply' && outcome.stage === 'mail' && outcome.reply.code === 421)
  )
}
