/** A process that acts as the receiving side of the internet: a DNS server and the hosts of all classes on 127/8. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '../../support/database/test-mongod.ts'
import { startDnsStub } from './dns-stub.ts'
import { createSinkHost, type Ledger, noCounts } from './sink-host.ts'
import { addressOf, type ClassCounts, createRandom, hostsOf, type SiteClass } from './site-class.ts'

/** Requests of the parent. */
export type Question =
  | { id: number; ask: 'counts' }
  | { id: number; ask: 'ledger'; tag: string }
  /** Ends all failures, limits and delays, so that waiting messages can be delivered. */
  | { id: number; ask: 'heal' }

/** Its responses. */
export type Answer =
  | { kind: 'ready'; smtpPort: number; dnsPort: number }
  | { kind: 'counts'; id: number; dns: number; classes: Map<string, ClassCounts> }
  | { kind: 'ledger'; id: number; entries: Map<number, { at: number; count: number }> }
  | { kind: 'healed'; id: number }

const send = (answer: Answer) => process.send?.(answer)
process.on('disconnect', () => process.exit(0))

const [classes] = (await once(process, 'message')) as [SiteClass[]]
const ledger: Ledger = new Map()
let dns = 0
const states = classes.map((site, index) => ({
  site,
  index,
  counts: noCounts(),
  ledger,
  random: createRandom(index + 1),
}))
const smtpPort = await freePort()

async function listen({ site, index, counts, random }: (typeof states)[number]): Promise<void> {
  for (let host = 0; host < hostsOf(site); host++) {
    const server = createServer({ noDelay: true }, createSinkHost({ site, counts, ledger, random }))
    server.listen({ host: addressOf(index, host), port: smtpPort, backlog: 1_024 })
    await once(server, 'listening')
  }
}

for (const state of states) if (state.site.fault !== 'refuse') await listen(state)
const dnsPort = await startDnsStub(classes, () => {
  dns++
})

async function heal(): Promise<void> {
  for (const state of states) {
    const { site } = state
    const refused = site.fault === 'refuse'
    for (const key of ['replyMs', 'perSecond', 'over', 'connections', 'fault', 'defer', 'reject', 'cut'] as const)
      delete site[key]
    if (refused) await listen(state)
  }
}

process.on('message', async (question: Question) => {
  const { id } = question
  if (question.ask === 'counts')
    send({ kind: 'counts', id, dns, classes: new Map(states.map(({ site, counts }) => [site.name, counts])) })
  else if (question.ask === 'ledger') send({ kind: 'ledger', id, entries: ledger.get(question.tag) ?? new Map() })
  else {
    await heal()
    send({ kind: 'healed', id })
  }
})
send({ kind: 'ready', smtpPort, dnsPort })
