/** Which recipients the simulator answers, in place of a way out that notes what it gets. */
import { describe, expect, test } from 'vitest'
import { transaction } from '../../../test/support/mail/smtp-transaction.ts'
import { verbatim } from '../../platform/sentences/compose.ts'
import type { ClaimedDelivery } from '../store/delivery.ts'
import type { Outgoing } from '../store/outgoing.ts'
import { RELAY_SITE } from '../store/rules/flow.ts'
import { type Group, groupByRoute } from './batch/group-by-route.ts'
import { directRoutes, fixedRoute } from './routes.ts'
import { NO_POLICY } from './rules/tls-results.ts'
import { withSimulator } from './simulator.ts'
import type { Route, Sent } from './smtp/transport.ts'

const SENT: Sent = { outcomes: [{ kind: 'withheld' }], conversation: 'a connection', dsn: false, ms: 1 }

/** Direct mode; every domain has this MX. `carried` are the routes that a connection was opened for. */
function direct(mx: string) {
  const carried: Route[] = []
  const findRoute = directRoutes({
    mx: {
      hostsOf: async () => ({ kind: 'hosts', hosts: [mx] }),
      addressesOf: async () => ({ kind: 'temporary', reason: verbatim('not asked here') }),
    },
    tlsPolicy: {
      policyOf: async () => undefined,
      reportedOf: async () => NO_POLICY,
      modeOf: () => 'opportunistic',
      rememberClear: () => undefined,
      clearCauseOf: () => undefined,
    },
  })
  const transport = {
    async send(route: Route) {
      carried.push(route)
      return SENT
    },
    stop: async () => undefined,
  }
  return { carried, ...withSimulator({ transport, findRoute }) }
}

/** The groups of a message to these recipients. */
async function groupsOf({ findRoute }: ReturnType<typeof direct>, rcpts: readonly string[]): Promise<Group[]> {
  const deliveries = rcpts.map((recipient, n) => {
    const site = recipient.slice(recipient.lastIndexOf('@') + 1)
    return { id: `em_1.${n}`, recipient, site } as ClaimedDelivery
  })
  const none = async () => undefined
  const ways = { findRoute, findCapture: none, findReturnPath: none, findTracking: none, relay: false }
  const outgoing = { message: { _id: 'em_1' } } as Outgoing
  const groups: Group[] = []
  for await (const routed of groupByRoute({ ...ways, findPersonalFields: () => undefined }, outgoing, deliveries))
    if (routed.kind === 'group') groups.push(routed.group)
  return groups
}

describe('a domain whose MX is simulator.invalid', () => {
  const RCPTS = ['bounced@simulator.invalid', 'ann@real.example', 'delivered@simulator.invalid']

  test('shares no transaction with the simulator', async () => {
    const groups = await groupsOf(direct('simulator.invalid'), RCPTS)
    expect(groups.map(({ deliveries }) => deliveries.map(({ recipient }) => recipient))).toEqual([
      [RCPTS[0], RCPTS[2]],
      [RCPTS[1]],
    ])
    expect(groups.map(({ route }) => route.simulated)).toEqual([true, undefined])
  })

  test.each(['simulator.invalid', 'simulator'])('is connected to, as any other: %s', async mx => {
    const { findRoute, transport, carried } = direct(mx)
    const found = await findRoute('ann@real.example')
    if (found.kind !== 'route') throw new Error('no route')
    const recipients = [{ email: 'ann@real.example' }]
    const sent = await transport.send(found.route, transaction({ recipients }), 1)
    expect(sent.conversation).toBe(SENT.conversation)
    expect(carried).toMatchObject([{ hosts: [mx] }])
  })
})

describe('the simulator', () => {
  const send = async (given: Parameters<typeof transaction>[0]) => {
    const { findRoute, transport, carried } = direct('mx.example.net')
    const found = await findRoute(given?.recipients?.[0]?.email ?? '')
    if (found.kind !== 'route') throw new Error('no route')
    return { carried, sent: await transport.send(found.route, transaction(given), 1) }
  }

  test('answers each recipient and opens no connection', async () => {
    const locals = ['delivered', 'bounced', 'deferred', 'complained']
    const recipients = locals.map(local => ({ email: `${local}@Simulator.Invalid` }))
    const { sent, carried } = await send({ recipients })
    expect(sent.outcomes.map(outcome => outcome.kind === 'reply' && outcome.reply.code)).toEqual([250, 550, 451, 250])
    expect(sent).toMatchObject({ mx: 'simulator.invalid', simulated: { retryMs: 10_000 }, delivered: true })
    expect(carried).toEqual([])
  })

  test.each([
    ['another worker owns the delivery', { mark: async () => false }],
    ['the slot may be gone', { mayFinish: () => false }],
  ])('answers nothing when %s', async (_, change) => {
    const { sent } = await send({ recipients: [{ email: 'bounced@simulator.invalid' }], ...change })
    expect(sent.outcomes).toEqual([{ kind: 'withheld' }])
  })

  test('belongs to the site of the relay in relay mode, and is not the relay', async () => {
    const transport = { send: async () => SENT, stop: async () => undefined }
    const { findRoute } = withSimulator({ transport, findRoute: fixedRoute(RELAY_SITE, 'relay.example') }, RELAY_SITE)
    const [simulated, other] = await Promise.all(['a@simulator.invalid', 'a@example.net'].map(rcpt => findRoute(rcpt)))
    expect(simulated).toMatchObject({ site: RELAY_SITE, route: { simulated: true } })
    expect(other).toEqual({ kind: 'route', site: RELAY_SITE, route: { key: RELAY_SITE, hosts: ['relay.example'] } })
  })
})
