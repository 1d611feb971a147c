/** Scenarios with a large backlog for a dead or slow site or another account, which must not delay new mail. */
import { setTimeout as sleep } from 'node:timers/promises'
import { awaitNewMail, sendNewMail, waited } from './fresh.ts'
import { seed } from './seed.ts'
import { addressOf, domainName, type SiteClass } from './site-class.ts'
import { note, type Row } from './table.ts'
import { type Service, type Testbed, withTestbed } from './testbed.ts'

const FINE: SiteClass = { name: 'fine', domains: 100 }
const PER_SECOND = 8

/** Many messages wait for one failing site; new mail for others is sent as soon as the worker is ready. */
async function troubled(
  site: SiteClass,
  {
    count,
    workers,
    seconds,
    patienceSeconds,
  }: { count: number; workers: number; seconds: number; patienceSeconds: number },
): Promise<Row> {
  return withTestbed([FINE, site], async bed => {
    note(`${site.name}: ${count} waiting, ${workers} worker(s)`)
    await seed(bed, { account: bed.accounts.a, tag: 'waiting', count, domainOf: () => domainName(site.name, 0) })
    const submission = await bed.startSubmission()
    const running: Service[] = []
    for (let i = 0; i < workers; i++) running.push(await bed.startWorker())
    const started = Date.now()
    const plan = { port: submission.port, account: bed.accounts.b, tag: 'fresh', perSecond: PER_SECOND }
    const times = await sendNewMail({
      ...plan,
      count: PER_SECOND * seconds,
      domainOf: n => domainName('fine', n % 100),
    })
    const fresh = await awaitNewMail(bed.internet, 'fresh', times, patienceSeconds * 1_000)
    const elapsed = (Date.now() - started) / 1_000
    const early = times.slice(0, PER_SECOND * 5)
    const first = await awaitNewMail(bed.internet, 'fresh', early, 0)
    return {
      waiting: count,
      workers,
      'fresh sent': fresh.sent,
      arrived: fresh.arrived,
      p50: waited(fresh.p50),
      p99: waited(fresh.p99),
      'p99 of the first 5 s': waited(first.p99),
      ...(await tries(bed, running, elapsed)),
    }
  })
}

/** The cost of the failing site: connections to its host, and events of the messages that wait for it. */
async function tries({ mongo }: Testbed, running: readonly Service[], elapsed: number): Promise<Row> {
  await sleep(600) // the workers write their counts twice a second
  const connections = running.map(worker => worker.connections().get(addressOf(1, 0)) ?? 0)
  const total = connections.reduce((sum, count) => sum + count, 0)
  const events = await mongo.db.collection('events').countDocuments({ rcpt: /^waiting\./ })
  return { connections: total, events, 'in seconds': Math.round(elapsed) }
}

/** A site that refuses connections. */
export async function dead(count = 50_000, workers = 0, seconds = 30, patienceSeconds = 60): Promise<Row[]> {
  const rows: Row[] = []
  for (const number of workers > 0 ? [workers] : [1, 2])
    rows.push(
      await troubled(
        { name: 'dead', domains: 1, fault: 'refuse' },
        { count, workers: number, seconds, patienceSeconds },
      ),
    )
  return rows
}

/** A site that accepts connections and never replies. */
export async function silent(count = 30_000, seconds = 30, patienceSeconds = 60): Promise<Row[]> {
  const site: SiteClass = { name: 'silent', domains: 1, fault: 'silent' }
  return [await troubled(site, { count, workers: 1, seconds, patienceSeconds })]
}

/** A site that takes 30 seconds for each reply. */
export async function slow30(count = 20_000, seconds = 30, patienceSeconds = 60): Promise<Row[]> {
  const site: SiteClass = { name: 'slow', domains: 1, replyMs: 30_000 }
  return [await troubled(site, { count, workers: 1, seconds, patienceSeconds })]
}

/** Account A has a backlog, B sends 10 messages five seconds later: to the same domains, and to others. */
export async function fair(...given: number[]): Promise<Row[]> {
  const backlogs = given.length > 0 ? given : [0, 1_000, 10_000, 50_000]
  const rows: Row[] = []
  for (const mode of ['relay', 'direct'] as const)
    for (const backlog of backlogs) {
      note(`fair: ${mode}, A has ${backlog} waiting`)
      rows.push(await withTestbed([FINE, { name: 'own', domains: 10 }], bed => bWaits(bed, mode, backlog)))
    }
  return rows
}

async function bWaits(bed: Testbed, mode: 'relay' | 'direct', backlog: number): Promise<Row> {
  const domainOf = (n: number) => domainName('fine', n % 40)
  await seed(bed, { account: bed.accounts.a, tag: 'a', count: backlog, relay: mode === 'relay', domainOf })
  const submission = await bed.startSubmission(mode)
  await bed.startWorker(mode)
  await sleep(5_000)
  const left = backlog - (await bed.internet.ledger('a')).size
  const plan = { port: submission.port, account: bed.accounts.b, perSecond: 50, count: 10 }
  const [shared, own] = await Promise.all([
    sendNewMail({ ...plan, tag: 'shared', domainOf }),
    sendNewMail({ ...plan, tag: 'own', domainOf: n => domainName('own', n) }),
  ])
  const patience = 20_000 + backlog
  const [onShared, onOwn] = await Promise.all([
    awaitNewMail(bed.internet, 'shared', shared, patience),
    awaitNewMail(bed.internet, 'own', own, patience),
  ])
  return {
    mode,
    'A has': backlog,
    'A still has when B sends': left,
    'B waits, domains of A: p50': waited(onShared.p50),
    most: waited(onShared.most),
    'B waits, own domains: p50': waited(onOwn.p50),
    'most ': waited(onOwn.most),
  }
}
