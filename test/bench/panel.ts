/**
 * Pages of the panel in Chromium with 100,000 messages and an empty cache: from the start of the navigation until the heading and the
 * rows are visible and the main thread is idle, with the part of the service, of the scripts and of the layout. CPU times
 * depend less on what else the machine does. `node test/bench/panel.ts [messages] [runs]`; starts a mongod of its own.
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
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import { upsertUser } from '../../services/subscriptions/people/manage-end-users.ts'
import { startBrowser } from '../panel/support/browser.ts'
import { startPanelService } from '../panel/support/panel-service.ts'
import { ask } from '../panel/support/seed-through-api.ts'
import { signedIn } from '../panel/support/user-actions.ts'
import { giveDomain } from '../support/accounts/accounts-and-domains.ts'
import { startTestMongod } from '../support/database/test-mongod.ts'
import { note, printTable, type Row } from './direct/table.ts'

const [count = 100_000, repeats = 10] = process.argv.slice(2).map(Number)
const DAYS = 30
const DOMAINS = 100
const SUBSCRIBERS = 100
/** After this time the benchmark ends with the runs that it has. */
const MOST_MS = 600_000
await using started = new AsyncDisposableStack()
const mongod = await startTestMongod()
started.defer(() => mongod.stop())
const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
started.defer(() => mongo.stop())
const service = await startPanelService({}, mongo)
started.defer(() => service.stop())
const browser = await startBrowser()
started.defer(() => browser.stop())
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

note('storing domains and subscriptions')
const admin = await signedIn(browser, service.url, service.admin)
await Promise.all(Array.from({ length: DOMAINS }, (_, n) => giveDomain(db, userId, `d${n}.bench.example`)))
await ask(admin.page, 'POST', '/subscription-api/app_manage', { app_name: 'Shop', app_key: 'shop' })
const features = JSON.stringify({ features: [] })
const plan = { name: 'Monthly', price: '19.90', duration: 30, features }
await ask(admin.page, 'POST', '/subscription-api/subscription_plan?app_key=shop', plan)
const plans = (await ask(admin.page, 'GET', '/subscription-api/subscription_plan?app_key=shop')) as {
  data: { plans: { id: string }[] }
}
for (let n = 0; n < SUBSCRIBERS; n++) {
  const subscriptions = openSubscriptions(service.foundation)
  const { user } = await upsertUser(subscriptions, 'shop', { identities: { openid: `user-${n}` }, profile: {} })
  const granted = { user_id: String(user._id), plan_id: plans.data.plans[0]?.id }
  await ask(admin.page, 'POST', '/subscription-api/subscription?app_key=shop', granted)
}
const latest = (await ask(admin.page, 'GET', '/api/v1/emails?limit=20')) as {
  data: { id: string }[]
}
const { cookies } = await admin.page.context().storageState()
await admin.leave()

/**
 * Measures in the page when heading and rows are there and nothing is a placeholder, and when the main thread is idle after that:
 * when the browser has at least 40 ms for other work.
 */
const watchFor = (selector: string) => `window.times = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error('nothing after a minute')), 60_000)
  let shown
  const idle = deadline => {
    if (deadline.timeRemaining() < 40) return requestIdleCallback(idle)
    resolve([shown, performance.now()])
  }
  const look = () => {
    const isShown = document.querySelector('h1') && document.querySelector(${JSON.stringify(selector)})
    if (!isShown || document.querySelector('.mantine-Skeleton-root')) return requestAnimationFrame(look)
    shown = performance.now()
    requestIdleCallback(idle)
  }
  look()
})`

/** CPU seconds of the renderer's main thread. */
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
  interactive: number
  script: number
  layout: number
  main: number
  server: number
}

async function open(page: Page, path: string, selector: string): Promise<Opened> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.addInitScript(watchFor(selector))
  const before = process.cpuUsage()
  await page.goto(path, { waitUntil: 'commit' })
  const [shown, interactive] = await page.evaluate<[number, number]>('window.times')
  const { user, system } = process.cpuUsage(before)
  const metrics = await tasks(session)
  const resources = await page.evaluate<Requests>(RESOURCES)
  await session.detach()
  const ms = (name: string) => Math.round((metrics[name] ?? 0) * 1000)
  return {
    ...{ ...resources, shown: Math.round(shown), interactive: Math.round(interactive) },
    ...{
      script: ms('ScriptDuration'),
      layout: ms('LayoutDuration') + ms('RecalcStyleDuration'),
      main: ms('TaskDuration'),
    },
    server: Math.round((user + system) / 1000),
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Name, address, and what the page has when its rows are there. */
const PAGES: readonly [name: string, path: string, selector: string][] = [
  ['overview', '/?days=30', '.pw-chart-bar'],
  ['message log', '/messages', '.pw-row-link'],
  ['by status', '/messages?status=bounced', '.pw-row-link'],
  ['by recipient', '/messages?to=user123@', '.pw-row-link'],
  ['by a word of the subject', `/messages?q=${100_000 + Math.floor(count / 2)}`, '.pw-row-link'],
  ['next page', `/messages?after=${latest.data.at(-1)?.id}`, '.pw-row-link'],
  ['one message', `/messages/${latest.data[0]?.id}`, '[role=tabpanel]'],
  ['domains', '/domains', 'tbody tr'],
  ['subscriptions', '/apps/shop/subscriptions', 'tbody tr'],
]

const rows: Row[] = []
for (const [name, path, selector] of PAGES) {
  const runs: Opened[] = []
  for (let n = 0; n < repeats && performance.now() < MOST_MS; n++) {
    const { page, leave } = await browser.visit(service.url)
    await page.context().addCookies(cookies)
    runs.push(await open(page, path, selector))
    await leave()
  }
  const of = (key: 'shown' | 'interactive' | 'script' | 'layout' | 'main' | 'server') =>
    median(runs.map(run => run[key]))
  rows.push({
    ...{ page: name, 'interactive ms': of('interactive'), 'at most ms': Math.max(...runs.map(run => run.interactive)) },
    ...{ 'rows ms': of('shown'), 'CPU of main thread ms': of('main'), 'of it scripts': of('script') },
    ...{ 'of it layout': of('layout'), 'CPU of service and bench ms': of('server') },
    scripts: `${runs[0]?.scripts.count}, ${runs[0]?.scripts.kb} KB`,
    'scripts until ms': median(runs.map(run => run.scripts.until)),
    load: Number(loadavg()[0]?.toFixed(1)),
  })
  for (const { path: request, start, ms } of runs.at(-1)?.api ?? [])
    note(`${name}: ${request} sent at ${start} ms, ${ms} ms`)
}
printTable(`The panel with ${count} messages and an empty cache, medians of ${repeats}`, rows)
