/** Scenarios that measure how fast a filled queue is delivered. */
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs } from '../../support/processes/service-process.ts'
import { awaitNewMail, sendNewMail, waited } from './fresh.ts'
import { seed } from './seed.ts'
import { createRandom, createZipf, domainName, type SiteClass } from './site-class.ts'
import { note, type Row } from './table.ts'
import { type Testbed, withTestbed } from './testbed.ts'

/** Arrivals of a tag, sorted, in milliseconds of the epoch; waits until there are `count`, or until the time is over. */
export async function arrivals(
  { internet }: Pick<Testbed, 'internet'>,
  tag: string,
  count: number,
  limitMs: number,
): Promise<number[]> {
  const until = Date.now() + limitMs
  let ledger = await internet.ledger(tag)
  while (ledger.size < count && Date.now() < until) {
    await sleep(500)
    ledger = await internet.ledger(tag)
  }
  return [...ledger.values()].map(({ at }) => at).toSorted((a, b) => a - b)
}

/** 1,000 messages to one site: how much longer than the site's limit requires. */
export async function site50(count = 1_000, limitSeconds = 60): Promise<Row[]> {
  const sites: (SiteClass & { allows: number | undefined })[] = [
    { name: 'paced', domains: 1, perSecond: 50, over: 'wait', allows: 50 },
    { name: 'limited', domains: 1, perSecond: 50, over: '451', allows: 50 },
    { name: 'limited', domains: 1, perSecond: 50, over: '421', allows: 50 },
    { name: 'open', domains: 1, allows: undefined },
  ]
  const rows: Row[] = []
  for (const { allows, ...site } of sites) {
    note(`site50: ${site.name} ${site.over ?? ''}`)
    rows.push(
      await withTestbed([site], async bed => {
        await seed(bed, { account: bed.accounts.a, tag: 'm', count, domainOf: n => domainName(site.name, n % 1) })
        await bed.startWorker()
        const started = Date.now()
        const times = await arrivals(bed, 'm', count, limitSeconds * 1_000)
        const after = (seconds: number) => times.filter(at => at < started + seconds * 1_000).length
        const last = ((times.at(-1) ?? started) - started) / 1_000
        const counts = (await bed.internet.counts()).get(site.name)
        return {
          'the site takes': allows === undefined ? 'everything' : `${allows}/s, above: ${site.over}`,
          messages: count,
          'after 5 s': after(5),
          'after 13 s': after(13),
          arrived: times.length,
          'last after': `${last.toFixed(1)} s`,
          'the site allows': allows === undefined ? '' : `${(count / allows).toFixed(1)} s`,
          'limit replies': counts?.limited ?? 0,
          connections: counts?.connections ?? 0,
        }
      }),
    )
  }
  return rows
}

/** Many messages to 40 healthy sites, compared with relay mode. */
export async function forty(count = 20_000, limitSeconds = Math.max(60, count / 200)): Promise<Row[]> {
  const site: SiteClass = { name: 'fine', domains: 40 }
  const rows: Row[] = []
  for (const mode of ['relay', 'direct'] as const) {
    note(`forty: ${mode}`)
    rows.push(
      await withTestbed([site], async bed => {
        const relay = mode === 'relay'
        await seed(bed, { account: bed.accounts.a, tag: 'm', count, relay, domainOf: n => domainName('fine', n % 40) })
        const worker = await bed.startWorker(mode)
        const cpu = cpuMs(worker.pid)
        const times = await arrivals(bed, 'm', count, limitSeconds * 1_000)
        return { mode, messages: count, ...rates(times, count), ...cpuOf(worker.pid, cpu, times.length) }
      }),
    )
  }
  return rows
}

function cpuOf(pid: number, before: number, messages: number): Row {
  return { 'worker CPU a message': `${((cpuMs(pid) - before) / Math.max(1, messages)).toFixed(2)} ms` }
}

/** Rates from the first arrival to a share of all, and the worst five seconds before the last one. */
export function rates(times: readonly number[], count: number): Row {
  const first = times[0] ?? 0
  const rate = (share: number) => {
    const index = Math.ceil(count * share) - 1
    const at = times[index]
    return at === undefined ? '' : `${Math.round((index + 1) / Math.max(0.001, (at - first) / 1_000))}/s`
  }
  const seconds = ((times.at(-1) ?? first) - first) / 1_000
  const windows = Array.from({ length: Math.floor(seconds / 5) }, (_, index) => {
    const from = first + index * 5_000
    return times.filter(at => at >= from && at < from + 5_000).length / 5
  })
  return {
    arrived: times.length,
    'to a half': rate(0.5),
    'to 90 %': rate(0.9),
    'to 99 %': rate(0.99),
    'to the last': rate(1),
    'worst 5 s': windows.length > 0 ? `${Math.round(Math.min(...windows))}/s` : '',
    seconds: seconds.toFixed(1),
  }
}

/** Shares of the domains by behaviour; their sum is 1. */
const MIX: readonly (Omit<SiteClass, 'domains'> & { share: number })[] = [
  { name: 'quick', share: 0.6 },
  { name: 'paced', share: 0.1, perSecond: 20 },
  { name: 'limited', share: 0.06, perSecond: 10, over: '451' },
  { name: 'strict', share: 0.04, perSecond: 10, over: '421' },
  { name: 'narrow', share: 0.04, connections: 2 },
  { name: 'far', share: 0.05, replyMs: 300 },
  { name: 'flaky', share: 0.05, defer: 0.2, cut: 0.02, reject: 0.02 },
  { name: 'dead', share: 0.04, fault: 'refuse' },
  { name: 'silent', share: 0.02, fault: 'silent' },
]

/** Classes of {@link MIX} for this number of domains, and a Zipf distribution over all of them. */
export function createMix(domains: number): { classes: SiteClass[]; draw(): string } {
  const classes = MIX.map(({ share, ...site }) => ({ ...site, domains: Math.max(1, Math.round(domains * share)) }))
  const names = classes.flatMap(site => Array.from({ length: site.domains }, (_, n) => domainName(site.name, n)))
  const random = createRandom(7)
  // In random order, so that the rank of a domain is independent of its behaviour.
  for (let i = names.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const [x = '', y = ''] = [names[i], names[j]]
    names[i] = y
    names[j] = x
  }
  const zipf = createZipf(names.length, random)
  return { classes, draw: () => names[zipf()] ?? '' }
}

/** Zipf over 2,000 domains of all behaviours, with new mail for fast domains. */
export async function mixed(count = 20_000, seconds = 90, domains = 2_000): Promise<Row[]> {
  const { classes, draw } = createMix(domains)
  return withTestbed(classes, async bed => {
    const to = Array.from({ length: count }, draw)
    await seed(bed, { account: bed.accounts.a, tag: 'm', count, domainOf: n => to[n] ?? '' })
    const submission = await bed.startSubmission()
    await bed.startWorker()
    note('mixed: workers started')
    const domainOf = (n: number) => domainName('quick', n % (classes[0]?.domains ?? 1))
    const plan = { port: submission.port, account: bed.accounts.b, tag: 'fresh', perSecond: 5, count: 5 * seconds }
    const times = await sendNewMail({ ...plan, domainOf })
    const fresh = await awaitNewMail(bed.internet, 'fresh', times, 10_000)
    const arrived = await bed.internet.ledger('m')
    const counts = await bed.internet.counts()
    const byClass = (ofClass: string) => to.flatMap((domain, n) => (domain.startsWith(`${ofClass}-`) ? [n] : []))
    const rows = classes.map(({ name, domains: sites }) => {
      const numbers = byClass(name)
      const got = numbers.filter(n => arrived.has(n)).length
      const count = counts.get(name)
      return {
        sites: `${sites} ${name}`,
        messages: numbers.length,
        [`arrived after ${seconds + 10} s`]: got,
        share: `${((100 * got) / Math.max(1, numbers.length)).toFixed(1)} %`,
        connections: count?.connections ?? 0,
        'limit replies': count?.limited ?? 0,
        'fresh mail p50, p99': '',
      }
    })
    const [first] = rows
    if (first) first['fresh mail p50, p99'] = `${waited(fresh.p50)}, ${waited(fresh.p99)}`
    return rows
  })
}
