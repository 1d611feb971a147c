/** Links of the overview in real Chromium: each leads to as many messages as its figure says, where each has one recipient. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUserByName, updateUser } from '../../services/accounts/store/users.ts'
import { STATS_DAYS, STATS_HOURS } from '../../services/mail/log/store/stats.ts'
import type { MessageDoc, RecipientState } from '../../services/mail/store/documents.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { giveEvent, giveMessage } from '../support/mail/stored-messages.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, holdRequests, nextFrames, open, signedIn } from './support/user-actions.ts'

const DAY_MS = 86_400_000
let service: PanelService
let browser: TestBrowser

/** State, days before now, recipient, and what else the message has. */
type Seed = [Pick<RecipientState, 'status' | 'kind'>, number, string, Partial<MessageDoc>?]

const BOUNCED = { status: 'bounced', kind: 'address' } as const
const RETRIED = { status: 'deferred', kind: 'throttled' } as const
const SMTP = { via: { channel: 'smtp', id: 'smtp_shop' } } as const
const tag = (value: string) => ({ tags: [{ name: 'category', value }] })

const SEEDS: readonly Seed[] = [
  ...Array.from({ length: 6 }, (_, n): Seed => [{ status: 'delivered' }, n % 3, 'ann@fine.example', tag('news')]),
  [{ status: 'complained' }, 1, 'bea@fine.example', tag('news')],
  // Delivered after an attempt that failed: its class says nothing any more.
  [{ status: 'delivered', kind: 'greylisted' }, 2, 'cleo@gone.example', SMTP],
  [BOUNCED, 0, 'dora@gone.example', SMTP],
  [BOUNCED, 2, 'eve@gone.example', tag('receipt')],
  [{ status: 'failed', kind: 'network' }, 2, 'fay@gone.example', tag('receipt')],
  [RETRIED, 0, 'gail@gone.example'],
  [RETRIED, 0, 'hana@slow.example', SMTP],
  [{ status: 'queued' }, 0, 'ivy@fine.example', { from: 'hello@shop.example' }],
  [{ status: 'scheduled' }, 0, 'joan@fine.example', { from: 'hello@shop.example' }],
  [{ status: 'suppressed' }, 1, 'kate@fine.example', tag('news')],
  [{ status: 'canceled' }, 1, 'lea@fine.example'],
  // Names that begin as others do.
  [BOUNCED, 1, 'mia@gone.example.org', tag('newsletter')],
  [{ status: 'delivered' }, 1, 'nora@mx.fine.example', { from: 'hello@shop.example.org' }],
  // Statistics have neither of these.
  [BOUNCED, 0, 'olga@gone.example', { ...SMTP, ...tag('news'), test: true }],
  [BOUNCED, 0, 'bounced@simulator.invalid', { ...SMTP, ...tag('receipt') }],
  // Before the span.
  [BOUNCED, 12, 'pia@gone.example', { ...SMTP, ...tag('receipt') }],
]

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { db } = service.mongo
  const userId = (await findUserByName(db, service.admin.username))?._id ?? ''
  await updateUser(db, userId, { recipients_per_day: 1_000 })
  for (const [state, days, email, more = {}] of SEEDS) {
    const message = await giveMessage(db, userId, {
      created_at: new Date(Date.now() - days * DAY_MS),
      rcpts: [{ email, type: 'to', ...state }],
      ...more,
    })
    if (state.kind) await giveEvent(db, message, { type: 'bounced', code: 550, text: '550 no' })
  }
}, 400_000)
/**
 * Counts of ended hours are kept. Those that the worker made between these messages, whose ids are of earlier days, lack
 * some.
 */
async function forgetCounts(): Promise<void> {
  const { db } = service.foundation.mongo
  await Promise.all([STATS_DAYS, STATS_HOURS].map(counts => collectionOf(db, counts).deleteMany({})))
}

/** Messages of the last seven days that statistics count. */
const COUNTED = SEEDS.filter(([, days, email, more]) => days < 7 && !more?.test && !email.endsWith('.invalid')).length

/** Opens a page of the overview once the statistics, which hold for seconds, have every message. */
async function openCounted(page: Page, path: string): Promise<void> {
  const since = new Date(Date.now() - 6 * DAY_MS).toISOString().slice(0, 10)
  const counted = async () => {
    const { totals } = (await ask(page, 'GET', `/api/v1/stats?since=${since}`)) as { totals: { messages: number } }
    if (totals.messages !== COUNTED) await forgetCounts()
    return totals.messages
  }
  await expect.poll(counted, { timeout: 60_000 }).toBe(COUNTED)
  await open(page, path)
  await waitForParts(page)
}

async function waitForParts(page: Page): Promise<void> {
  await page.locator('.pw-chart-bar > span').first().waitFor()
  await page.locator('section.pw-record').first().waitFor()
}

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** Address of a link with the figure beside it. */
interface Figure {
  href: string
  figure: number
}

const numberIn = (text: string) => Number.parseFloat(text.replaceAll(/[^\d.]/g, ''))
const sumOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + numberIn(text), 0)

async function hrefOf(link: Locator): Promise<string> {
  return (await link.getAttribute('href')) ?? ''
}

/** The link of each row with the sum of its numbers. */
async function rowsOf(rows: Locator, figures: (cells: string[]) => string[]): Promise<Figure[]> {
  return Promise.all(
    (await rows.all()).map(async row => ({
      href: await hrefOf(row.getByRole('link')),
      figure: sumOf(figures(await row.locator('td').allInnerTexts())),
    })),
  )
}

/** Follows an address of the log: how many messages are counted there, and that as many are listed. */
async function follow(page: Page, href: string): Promise<number> {
  const counted = page.waitForResponse(answer => answer.url().includes('/api/v1/emails/count'))
  await open(page, href)
  const { count } = (await (await counted).json()) as { count: number }
  await expect.poll(() => page.locator('#content tbody tr').count(), { message: href, timeout: 30_000 }).toBe(count)
  return count
}

const READS = {
  domains: /\/domains\?limit=12$/,
  limit: /\/limits$/,
  report: /\/stats\?since=[^&]+$/,
  before: /\/stats\?since=[^&]+&until=/,
  failing: /\/stats\/failing-destinations\?/,
}
const { overview } = catalogues.en

test.each([
  ['the strip of domains', 'domains', '.pw-strip-item', '.pw-statistic'],
  ['the limit of the day', 'limit', `text="${overview.today}"`, '.pw-chart-bar'],
  ['the time before', 'before', `text=${overview.comparedPoints.split('}} ').at(-1)}`, '.pw-chart-bar'],
  ['the destinations that fail', 'failing', 'section.pw-record', `h2:text-is("${overview.reasons}")`],
] as const)('nothing below %s is shown before it, which would move it', async (_, held, part, below) => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const release = await holdRequests(page, READS[held])
  const asked = page.waitForRequest(READS[held])
  const others = (['domains', 'limit', 'report', 'before'] as const).filter(name => name !== held)
  const answers = others.map(async name => (await page.waitForResponse(READS[name])).finished())
  await page.goto('/?days=7')
  await Promise.all([asked, ...answers])
  await nextFrames(page)
  const content = page.locator('#content')
  expect(await content.locator(below).count()).toBe(0)
  release()
  await content.locator(below).first().waitFor()
  expect(await content.locator(part).count()).toBeGreaterThan(0)
  await leave()
})

test('what is shown stays while another span is loading', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await openCounted(page, '/?days=7')
  const busiest = page.getByRole('region', { name: overview.busiest, exact: true }).first()
  await busiest.getByText(overview.by.tag).click()
  await busiest.getByRole('link', { name: 'category:receipt' }).waitFor()
  const release = await holdRequests(page, /\/stats(\/failing-destinations)?\?/)
  const asked = page.waitForRequest(READS.report)
  await page.getByText(overview.spans['30d'], { exact: true }).click()
  await asked
  await page.getByRole('progressbar', { name: catalogues.en.ui.updating }).first().waitFor()
  expect(await busiest.getByRole('link', { name: 'category:receipt' }).count()).toBe(1)
  release()
  await page.getByRole('progressbar', { name: catalogues.en.ui.updating }).first().waitFor({ state: 'detached' })
  await busiest.getByRole('link', { name: 'category:receipt' }).waitFor()
  await leave()
})

test.each([
  ['en', '/?days=7'],
  ['zh-CN', '/?days=7'],
  ['en', '/?hours=24'],
] as const)('in %s, %s: tiles, bars and rows lead to what they count', { timeout: 600_000 }, async (language, path) => {
  const { overview: labels, messages: words } = catalogues[language]
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
  await openCounted(page, path)
  const tile = async (name: string) => {
    const link = page.getByRole('link', { name, exact: true })
    const value = await page.locator('.pw-statistic').filter({ has: link }).locator('.pw-statistic-value').innerText()
    return { href: await hrefOf(link), figure: numberIn(value) }
  }
  const [delivered, bounced] = [await tile(labels.deliveredRate), await tile(labels.bounceRate)]
  const figures = [await tile(labels.messages), await tile(labels.waiting)]

  await page.getByText(labels.asTable).click()
  figures.push(...(await rowsOf(page.locator('details table tbody tr'), cells => cells)))
  const reasons = page.getByRole('region', { name: labels.reasons }).locator('table tbody tr')
  const byReason = await rowsOf(reasons, cells => cells.slice(1))
  expect(byReason.length).toBeGreaterThan(1)
  figures.push(...byReason)
  for (const failing of await page.locator('section.pw-record').all()) {
    const [text = ''] = (await failing.locator('.pw-sub').first().innerText()).split(labels.lastFailure)
    figures.push({ href: await hrefOf(failing.getByRole('link')), figure: sumOf(text.match(/\d+/g) ?? []) })
  }
  const busiest = page.getByRole('region', { name: labels.busiest, exact: true }).first()
  for (const dimension of ['destination', 'sender', 'submitter', 'tag'] as const) {
    await busiest.getByText(labels.by[dimension], { exact: true }).first().click()
    const rows = await rowsOf(busiest.locator('tbody tr'), cells => cells.slice(1, 2))
    expect(rows.length, dimension).toBeGreaterThan(path === '/?days=7' ? 1 : 0)
    figures.push(...rows)
  }

  expect(figures.some(({ figure }) => figure > 0)).toBe(true)
  for (const { href, figure } of figures) expect(await follow(page, href), href).toBe(figure)
  const [arrived, failed] = [await follow(page, delivered.href), await follow(page, bounced.href)]
  expect(delivered.figure).toBeCloseTo((100 * arrived) / (arrived + failed), 0)
  expect(bounced.figure).toBeCloseTo((100 * failed) / (arrived + failed), 0)

  await page.getByRole('button', { name: words.removeFilter.replace('{{filter}}', words.simulated.false) }).click()
  await page.waitForURL(url => !url.searchParams.has('simulated'))
  expect(complaints).toEqual([])
  await leave()
})

test('each part of a bar leads to the messages of its series', { timeout: 300_000 }, async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const parts = page.locator('.pw-chart-bar > span')
  await openCounted(page, '/?days=7')
  const figure = sumOf(await page.locator('details table tbody td').allTextContents())
  let sum = 0
  for (let index = 0; index < (await parts.count()); index++) {
    const counted = page.waitForResponse(answer => answer.url().includes('/api/v1/emails/count'))
    await parts.nth(index).click({ force: true })
    await page.waitForURL(url => url.pathname === '/messages' && url.searchParams.has('status'))
    sum += ((await (await counted).json()) as { count: number }).count
    await open(page, '/?days=7')
    await waitForParts(page)
  }
  expect(sum).toBe(figure)
  await leave()
})
