/**
 * The message log and the overview of the panel in Chromium with 100,000 messages: until the first rows are there and a
 * click on one works, with the part of the service, of the scripts and of the layout. CPU times are printed beside, which
 * depend less on what else the machine does. `node test/bench/panel.ts [messages] [repeats]`; starts a mongod of its own.
 */
import { loadavg } from 'node:os'
import type { CDPSession, Page } from 'playwright-core'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { countStatistics } from '../../services/mail/log/store/count-stats.ts'
import { indexLog } from '../../services/mail/log/store/log-blocks.ts'
import type { MessageDoc } from '../../services/mail/store/documents.ts'
import { MESSAGES } from '../../services/mail/store/messages.ts'
import { collectionOf, connectMongo } from '../../services/platform/database/mongo.ts'
import { newId } from '../../services/platform/ids.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { startBrowser } from '../panel/support/browser.ts'
import { startPanelService } from '../panel/support/panel-service.ts'
import { signIn } from '../panel/support/user-actions.ts'
import { startTestMongod } from '../support/database/test-mongod.ts'
import { note, printTable, type Row } from './direct/table.ts'

const [count = 100_000, repeats = 5] = process.argv.slice(2).map(Number)
const DAYS = 30
const mongod = await startTestMongod()
const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
const service = await startPanelService({}, mongo)
const browser = await startBrowser()
const { db } = service.mongo
const userId = (await findUserByName(db, service.admin.username))?._id ?? ''
const now = Date.now()

/** Message number n, in chronological order over 30 days; one of forty bounced. */
function message(n: number): MessageDoc {
  const created = new Date(now - (DAYS * 86_400_000 * (count - n)) / count)
  const final = new Date(created.getTime() + 2_000)
  const bounced = n % 40 === 0
  const state = bounced
    ? { status: 'bounced' as const, code: 550, enhanced: '5.1.1', kind: 'address' as const }
    : { status: 'delivered' as const, code: 250, enhanced: '2.0.0' }
  return {
    ...{ _id: newId('em', created.getTime()), user_id: userId, domain_id: 'dom_1' },
    ...{ via: { channel: 'smtp', id: 'smtp_1' }, mail_from: 'bounce@example.org', from: 'shop@example.org' },
    ...{ subject: `Your order ${100_000 + n} has shipped`, message_id: `<${n}@mailer.example.org>`, size: 4_000 },
    ...{ parts: 1, left: 0, lane: 'transactional', ambiguous: 'retry' },
    rcpts: [{ email: `user${n % 20_000}@d${n % 300}.example`, type: 'envelope', at: final, ...state }],
    ...{ created_at: created, expires_at: new Date(created.getTime() + 3 * 86_400_000) },
    ...{ final_at: final, exp: new Date(final.getTime() + 40 * 86_400_000) },
  }
}

note(`storing ${count} messages`)
for (let from = 0; from < count; from += 5_000) {
  const batch = Array.from({ length: Math.min(5_000, count - from) }, (_, index) => message(from + index))
  await collectionOf(db, MESSAGES).insertMany(batch, { ordered: false, writeConcern: { w: 1 } })
}
const signal = new AbortController().signal
note('building the search index and the statistics')
await indexLog(db, { now: new Date(), signal, mostMs: 600_000 })
await countStatistics(db, { now: () => new Date(), logDays: 30, signal, mostMs: 600_000 })

/** Notes in the page when an element that matches the selector is there for the first time. */
const watchFor = (selector: string) => `(() => {
  const look = () => {
    if (!document.querySelector(${JSON.stringify(selector)})) return requestAnimationFrame(look)
    window.shownAt = performance.now()
  }
  look()
})()`

/** Seconds of the renderer's main thread, as Chromium counts them. */
async function tasks(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

interface Requests {
  api: { path: string; start: number; ms: number }[]
  scripts: { count: number; kb: number; until: number }
}

const RESOURCES = `(() => {
  const all = performance.getEntriesByType('resource')
  const scripts = all.filter(({ initiatorType, name }) => /\\.js$/.test(name))
  return {
    api: all.filter(({ name }) => name.includes('/api/')).map(entry => ({
      path: new URL(entry.name).pathname + new URL(entry.name).search.slice(0, 30),
      start: Math.round(entry.requestStart), ms: Math.round(entry.responseEnd - entry.requestStart),
    })),
    scripts: { count: scripts.length, kb: Math.round(scripts.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024),
      until: Math.round(Math.max(...scripts.map(({ responseEnd }) => responseEnd))) },
  }
})()`

interface Opened extends Requests {
  shown: number
  clicked: number
  script: number
  layout: number
  main: number
  server: number
}

async function open(page: Page, path: string, selector: string, next: RegExp): Promise<Opened> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await page.addInitScript(watchFor(selector))
  const before = process.cpuUsage()
  await page.goto(path, { waitUntil: 'commit' })
  await page.waitForFunction('window.shownAt !== undefined', undefined, { timeout: 120_000 })
  const shown = await page.evaluate<number>('window.shownAt')
  const { user, system } = process.cpuUsage(before)
  const metrics = await tasks(session)
  const resources = await page.evaluate<Requests>(RESOURCES)
  const started = performance.now()
  await page.locator(selector).first().click()
  await page.waitForURL(next)
  const clicked = performance.now() - started
  await session.detach()
  const ms = (name: string) => Math.round((metrics[name] ?? 0) * 1000)
  return {
    ...{ ...resources, shown: Math.round(shown), clicked: Math.round(clicked) },
    ...{
      script: ms('ScriptDuration'),
      layout: ms('LayoutDuration') + ms('RecalcStyleDuration'),
      main: ms('TaskDuration'),
    },
    server: Math.round((user + system) / 1000),
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const PAGES = [
  ['/messages', '.pw-row-link', /\/messages\/em_/],
  ['/?days=30', '.pw-row-link', /\/messages/],
] as const

const rows: Row[] = []
for (const [path, selector, next] of PAGES)
  for (const cache of ['empty cache', 'warm cache'] as const) {
    const runs: Opened[] = []
    const first = await browser.visit(service.url)
    await first.page.goto('/sign-in')
    await signIn(first.page, service.admin)
    const state = await first.page.context().storageState()
    for (let n = 0; n < repeats; n++) {
      const visitor = cache === 'warm cache' ? undefined : await browser.visit(service.url)
      if (visitor) await visitor.page.context().addCookies(state.cookies)
      const page = visitor?.page ?? (await first.page.context().newPage())
      // A page that was opened before has filled the cache.
      if (!visitor && n === 0) await page.goto(path, { waitUntil: 'networkidle' })
      runs.push(await open(page, path, selector, next))
      await (visitor ? visitor.leave() : page.close())
    }
    await first.leave()
    const of = (name: 'shown' | 'clicked' | 'script' | 'layout' | 'main' | 'server') =>
      median(runs.map(run => run[name]))
    rows.push({
      ...{ page: path, cache, 'rows ms': of('shown'), 'click ms': of('clicked'), 'main thread ms': of('main') },
      ...{ 'script ms': of('script'), 'layout ms': of('layout'), 'CPU of this process ms': of('server') },
      ...{
        scripts: `${runs[0]?.scripts.count}, ${runs[0]?.scripts.kb} KB`,
        'scripts until ms': median(runs.map(run => run.scripts.until)),
      },
      load: Number(loadavg()[0]?.toFixed(1)),
    })
    const last = runs.at(-1)
    for (const { path: request, start, ms } of last?.api ?? [])
      note(`${path}, ${cache}: ${request} sent at ${start} ms, ${ms} ms`)
  }
printTable(`The panel with ${count} messages, medians of ${repeats}`, rows)
await browser.stop()
await service.stop()
await mongod.stop()
