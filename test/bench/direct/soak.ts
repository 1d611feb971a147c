/** Mixed traffic for minutes while processes are killed, and what happened to every accepted message. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeliveryDoc, EventDoc } from '../../../services/mail/store/documents.ts'
import { withTimeout } from '../../../services/platform/concurrency/timeout.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { openSender } from '../../support/mail/load-sender.ts'
import { note, type Row } from './table.ts'
import { type Service, type Testbed, withTestbed } from './testbed.ts'
import { createMix } from './throughput.ts'

const PER_SECOND = 20
const CLIENTS = 4
const PAUSE_MS = 15_000
/** Longest wait of a client for its reply: a failover takes some seconds. */
const REPLY_MS = 90_000
const DRAIN_MS = 240_000
const FINAL: readonly EventDoc['type'][] = ['bounced', 'failed', 'expired']

/** Runs for `minutes`, then ends all failures and waits until the queue is empty, four minutes at most. */
export async function soak(minutes = 2): Promise<Row[]> {
  const { classes, draw } = createMix(2_000)
  return withTestbed(
    classes,
    async bed => {
      const workers = [await bed.startWorker(), await bed.startWorker()]
      const services = [await bed.startSubmission(), await bed.startSubmission()]
      const load = startLoad(bed, () => services.map(({ port }) => port), draw)
      const until = Date.now() + minutes * 60_000
      let blows = 0
      while (Date.now() < until) {
        await sleep(Math.min(PAUSE_MS, Math.max(0, until - Date.now())))
        if (Date.now() < until) await strike(bed, workers, services, blows++)
      }
      const accepted = await load.stop()
      note(`soak: ${accepted.length} accepted, ${blows} blows; draining`)
      await bed.internet.heal()
      const left = await drain(bed, workers)
      return [{ minutes, blows, ...(await settle(bed, accepted, load.refused())), 'queued at the end': left }]
    },
    { members: 3 },
  )
}

/** Kills a worker, steps the primary down, kills an SMTP process, kills the primary: in turn. */
async function strike(
  bed: Testbed,
  workers: Service[],
  services: (Service & { port: number })[],
  turn: number,
): Promise<void> {
  const index = Math.floor(turn / 4) % 2
  if (turn % 4 === 0) {
    note('soak: kill -9 of a worker')
    await workers[index]?.kill()
    workers[index] = await bed.startWorker()
  } else if (turn % 4 === 1) {
    note('soak: step-down')
    await bed.set?.stepDown()
  } else if (turn % 4 === 2) {
    note('soak: kill -9 of an SMTP process')
    await services[index]?.kill()
    services[index] = await bed.startSubmission()
  } else {
    note('soak: kill -9 of the primary')
    if (bed.set) await bed.set.killAndRestart(await bed.set.primary())
  }
}

/** Clients that never retry: each attempt has its own recipient, so that an arrival identifies the attempt. */
function startLoad(bed: Testbed, ports: () => number[], draw: () => string) {
  const accepted: { n: number; to: string }[] = []
  let next = 0
  let refused = 0
  let ended = false
  const from = `a@${bed.accounts.a.domain}`
  const session = async (port: number) => {
    const sender = await openSender(port, bed.accounts.a.name, PASSWORD)
    try {
      while (!ended && ports().includes(port)) {
        const n = next++
        const to = `soak.${n}@${draw()}`
        const mail = `From: ${from}\r\nTo: ${to}\r\nSubject: soak ${n}\r\n\r\nsoak\r\n.\r\n`
        const reply = await withTimeout(
          REPLY_MS,
          sender.send(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`, mail),
        )
        if (reply.startsWith('250')) accepted.push({ n, to })
        else refused++
        await sleep((1_000 * CLIENTS) / PER_SECOND)
      }
    } finally {
      sender.close()
    }
  }
  const client = async (number: number) => {
    while (!ended) {
      const all = ports()
      await session(all[number % all.length] ?? 0).catch(async () => {
        refused++
        await sleep(500)
      })
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  return {
    refused: () => refused,
    async stop() {
      ended = true
      await Promise.all(clients)
      return accepted
    },
  }
}

/** Makes everything due until nothing is left; new workers have no knowledge of hosts that were down. */
async function drain(bed: Testbed, workers: Service[]): Promise<number> {
  await Promise.all(workers.map(worker => worker.kill()))
  // Also removes what is stored of sites: they are healthy again.
  await bed.mongo.db.collection('sites').deleteMany({})
  for (const index of workers.keys()) workers[index] = await bed.startWorker()
  const deliveries = bed.mongo.db.collection<DeliveryDoc>('deliveries')
  const until = Date.now() + DRAIN_MS
  let left = await deliveries.estimatedDocumentCount()
  while (left > 0 && Date.now() < until) {
    await deliveries.updateMany({ due: { $gt: new Date() }, tok: { $exists: false } }, { $set: { due: new Date() } })
    await sleep(2_000)
    left = await deliveries.estimatedDocumentCount()
  }
  return left
}

async function settle(
  { mongo, internet }: Testbed,
  accepted: readonly { n: number; to: string }[],
  refused: number,
): Promise<Row> {
  const arrived = await internet.ledger('soak')
  const events = await mongo.db
    .collection<EventDoc>('events')
    .find({ rcpt: /^soak\./ }, { projection: { rcpt: 1, type: 1, ambiguous: 1 } })
    .toArray()
  const waiting = new Set(await mongo.db.collection('deliveries').distinct('rcpt'))
  const failed = new Set(events.filter(({ type }) => FINAL.includes(type)).map(({ rcpt }) => rcpt))
  const ambiguous = events.filter(event => event.ambiguous)
  const unsure = new Set(ambiguous.map(({ rcpt }) => rcpt.split('@')[0]))
  const known = new Set(events.filter(({ type }) => type === 'delivered').map(({ rcpt }) => rcpt))
  const missing = accepted.filter(({ n }) => !arrived.has(n))
  const twice = [...arrived].filter(([, { count }]) => count > 1)
  return {
    accepted: accepted.length,
    refused,
    delivered: accepted.length - missing.length,
    bounced: missing.filter(({ to }) => failed.has(to)).length,
    waiting: missing.filter(({ to }) => !failed.has(to) && waiting.has(to)).length,
    lost: missing.filter(({ to }) => !failed.has(to) && !waiting.has(to)).length,
    duplicates: twice.length,
    'ambiguous attempts': ambiguous.length,
    unexplained: twice.filter(([n]) => !unsure.has(`soak.${n}`)).length,
    'delivered in the log, not at the sink': accepted.filter(({ n, to }) => known.has(to) && !arrived.has(n)).length,
  }
}
