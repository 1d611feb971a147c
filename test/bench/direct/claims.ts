/** The cost of claims: the database work for the queue while few messages are delivered and many are waiting. */
import type { Db } from '../../../services/platform/database/mongo.ts'
import { sendNewMail } from './fresh.ts'
import { seed } from './seed.ts'
import { domainName, type SiteClass } from './site-class.ts'
import { note, type Row } from './table.ts'
import { withTestbed } from './testbed.ts'

const FINE: SiteClass = { name: 'fine', domains: 100 }
const SECONDS = 15
const PER_SECOND = 20

/** Backlogs for one dead site, and as many sites with one message each as the largest of them, up to 100,000. */
export async function claims(...given: number[]): Promise<Row[]> {
  const backlogs = given.length > 0 ? given : [0, 10_000, 100_000]
  const rows: Row[] = []
  for (const backlog of backlogs)
    rows.push(...(await measure(`${backlog} for a dead site`, { name: 'dead', domains: 1, fault: 'refuse' }, backlog)))
  const many = Math.min(100_000, Math.max(...backlogs))
  if (many > 0)
    rows.push(...(await measure(`1 for each of ${many} sites`, { name: 'many', domains: many, hosts: 200 }, many)))
  return rows
}

async function measure(title: string, site: SiteClass, backlog: number): Promise<Row[]> {
  note(`claims: ${title}`)
  return withTestbed([FINE, site], async bed => {
    const { db } = bed.mongo
    const domainOf = (n: number) => domainName(site.name, n % site.domains)
    await seed(bed, { account: bed.accounts.a, tag: 'waiting', count: backlog, domainOf })
    const submission = await bed.startSubmission()
    await bed.startWorker()
    await db.command({ create: 'system.profile', capped: true, size: 256 * 1024 * 1024 })
    const before = await received(bed.internet)
    await db.command({
      profile: 1,
      filter: { ns: { $in: [`${db.databaseName}.deliveries`, `${db.databaseName}.sites`] } },
    })
    const plan = { port: submission.port, account: bed.accounts.b, tag: 'fresh', perSecond: PER_SECOND }
    await sendNewMail({ ...plan, count: PER_SECOND * SECONDS, domainOf: n => domainName('fine', n % 100) })
    await db.command({ profile: 0 })
    const delivered = (await received(bed.internet)) - before
    return (await commands(db)).map(row => ({ waiting: title, [`delivered in ${SECONDS} s`]: delivered, ...row }))
  })
}

async function received(internet: { counts(): Promise<Map<string, { received: number }>> }): Promise<number> {
  return [...(await internet.counts()).values()].reduce((sum, { received: count }) => sum + count, 0)
}

interface Profile {
  op: string
  ns: string
  command: Record<string, unknown> & { filter?: object; q?: object; pipeline?: unknown[] }
  millis: number
  docsExamined?: number
  keysExamined?: number
}

/** One row for each kind of command: by collection, operation and fields. */
async function commands(db: Db): Promise<Row[]> {
  const all = (await db.collection('system.profile').find().toArray()) as unknown as Profile[]
  const kinds = Map.groupBy(all, ({ op, ns, command }) => `${kindOf(op, command)} ${ns.replace(/^[^.]*\./, '')}`)
  return [...kinds]
    .map(([command, runs]) => {
      const spread = (values: number[]) => {
        const sorted = values.toSorted((a, b) => a - b)
        return `${sorted[Math.floor(sorted.length / 2)]}, ${sorted[Math.floor(sorted.length * 0.99)]}`
      }
      return {
        command,
        times: runs.length,
        'ms p50, p99': spread(runs.map(({ millis }) => millis)),
        'keys p50, p99': spread(runs.map(({ keysExamined = 0 }) => keysExamined)),
        'documents p50, p99': spread(runs.map(({ docsExamined = 0 }) => docsExamined)),
        'ms in all': runs.reduce((sum, { millis }) => sum + millis, 0),
      }
    })
    .toSorted((a, b) => b['ms in all'] - a['ms in all'])
    .slice(0, 8)
}

function kindOf(op: string, command: Profile['command']): string {
  const name = ['aggregate', 'count', 'distinct', 'findAndModify', 'find'].find(key => key in command) ?? op
  const filter = command.filter ?? command.q ?? (command.query as object | undefined) ?? {}
  return `${name} {${Object.keys(filter).join(', ')}}`
}
