/** The simulator: answers for the recipients at its domain in place of a server. Everything else is as in any delivery. */
import { isSimulated, SIMULATOR_DOMAIN, simulatedAttempt } from '../store/rules/simulation.ts'
import type { FindRoute, FoundRoute } from './routes.ts'
import type { RecipientOutcome, Route, Sent, Transaction, Transport, Unopened } from './smtp/transport.ts'

/** Wait after a simulated deferral: its reader waits for the next attempt. */
const RETRY_MS = 10_000

/** In capitals, which no host has: a domain whose MX is `simulator.invalid` shares no transaction with the simulator. */
const KEY = 'SIMULATOR'

/** The way out of a worker. */
export interface WayOut {
  transport: Transport
  findRoute: FindRoute
}

/** The way out with the simulator beside it. `site`: the one of relay mode, which all mail belongs to there. */
export function withSimulator({ transport, findRoute }: WayOut, site: string = SIMULATOR_DOMAIN): WayOut {
  const route: Route = { key: KEY, hosts: [SIMULATOR_DOMAIN], simulated: true }
  const found: FoundRoute = { kind: 'route', site, route }
  return {
    findRoute: async (rcpt, options) => (isSimulated(rcpt) ? found : findRoute(rcpt, options)),
    transport: {
      send: (route, transaction, messagesPerConnection) =>
        route.simulated ? simulateTransaction(transaction) : transport.send(route, transaction, messagesPerConnection),
      stop: () => transport.stop(),
    },
  }
}

async function simulateTransaction(given: Transaction | Unopened): Promise<Sent> {
  const started = performance.now()
  const transaction = 'open' in given ? await given.open() : given
  const isOurs = transaction && (await transaction.mark()) && transaction.mayFinish()
  const outcomes = given.recipients.map(({ email, attempts = 0, complains }): RecipientOutcome => {
    if (!isOurs) return { kind: 'withheld' }
    const { code, enhanced, text } = simulatedAttempt(email, attempts + 1, complains)
    return { kind: 'reply', stage: code < 300 ? 'dot' : 'rcpt', reply: { code, enhanced, text } }
  })
  return {
    outcomes,
    mx: SIMULATOR_DOMAIN,
    conversation: '-- simulated: Postwright answers for simulator.invalid and opens no connection',
    dsn: false,
    delivered: true,
    simulated: { retryMs: RETRY_MS },
    ms: Math.round(performance.now() - started),
  }
}
