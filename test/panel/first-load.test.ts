/** What a browser with an empty cache transfers for the pages that people open first, in gzip. Prints a table. */
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/time/until.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, signedIn } from './support/user-actions.ts'

const KIB = 1024
/** Bytes of all scripts of one page, as they are transferred. */
const MOST_SCRIPTS = 250 * KIB

type Kind = 'scripts' | 'styles' | 'data'
type Transferred = Record<Kind, number>
const KINDS: Readonly<Record<string, Kind>> = { script: 'scripts', stylesheet: 'styles', fetch: 'data', xhr: 'data' }

/** A page, and what it shows when everything has been loaded. */
const PAGES = [
  { name: 'sign-in', path: '/sign-in', shown: 'input[autocomplete=username]' },
  { name: 'get started', path: '/start', shown: '.pw-step' },
  { name: 'overview', path: '/?hours=24', shown: '.pw-chart-bar' },
] as const

/** Keys of the catalogue where a text should be. */
const KEYS = new RegExp(`[\\s">](?:${Object.keys(catalogues.en).join('|')})\\.[a-z]\\w+[\\s"<]`)

let service: PanelService
let browser: TestBrowser
const table: ({ page: string; language: string } & Transferred)[] = []

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
})

afterAll(async () => {
  const kib = (bytes: number) => (bytes / KIB).toFixed(1)
  const line = ({ page, language, scripts, styles, data }: (typeof table)[number]) =>
    `| ${page} | ${language} | ${kib(scripts)} | ${kib(styles)} | ${kib(data)} | ${kib(scripts + styles + data)} |\n`
  process.stderr.write(
    `| page | language | scripts | styles | data | together, KiB |\n|---|---|---|---|---|---|\n${table.map(line).join('')}`,
  )
  await browser?.stop()
  await service?.stop()
})

/** Adds up the bodies that the page receives from now on; the service is asked for gzip, which every browser and proxy knows. */
async function countTransferred(page: Page): Promise<() => Promise<Transferred>> {
  const received: Promise<[Kind, number]>[] = []
  await page.setExtraHTTPHeaders({ 'accept-encoding': 'gzip' })
  const count = (request: Request) => {
    const kind = KINDS[request.resourceType()]
    if (kind) received.push(sizeOf(request).then(size => [kind, size]))
  }
  page.on('requestfinished', count)
  return async () => {
    // The size of what is received later would be read after the page is closed, which fails.
    page.off('requestfinished', count)
    const total: Transferred = { scripts: 0, styles: 0, data: 0 }
    for (const [kind, size] of await Promise.all(received)) total[kind] += size
    return total
  }
}

async function sizeOf(request: Request): Promise<number> {
  const [response, { responseBodySize }] = await Promise.all([request.response(), request.sizes()])
  if (/\/assets\//.test(request.url())) expect(response?.headers()['content-encoding'], request.url()).toBe('gzip')
  return responseBodySize
}

/** A message, which the statistics count. */
async function sendMessage(): Promise<void> {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const body = { from: 'hello@sandbox.mail.example.com', to: 'you@example.org', subject: 'First', text: 'Hello.' }
  await ask(page, 'POST', '/api/v1/emails', body)
  await until(async () => {
    const { totals } = (await ask(page, 'GET', '/api/v1/stats/hours?hours=24')) as { totals: { messages: number } }
    return totals.messages > 0
  }, 90_000)
  await leave()
}

describe.each(PAGES)('the scripts of $name stay below 250 KiB and its texts are there', ({ name, path, shown }) => {
  beforeAll(() => (name === 'overview' ? sendMessage() : undefined))

  test.each(['en', 'zh-CN'] as const)('in %s', async language => {
    const { page, complaints, leave } = await browser.visit(service.url, { language })
    if (name !== 'sign-in')
      await page.context().request.post('/api/v1/session', { headers: { 'x-csrf': '1' }, data: service.admin })
    const transferred = await countTransferred(page)
    await page.goto(path)
    await page.locator(shown).first().waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle')
    const sizes = await transferred()
    table.push({ page: name, language, ...sizes })
    expect(await page.locator('html').getAttribute('lang')).toBe(language)
    expect(KEYS.exec(await page.content())).toBeNull()
    expect(sizes.scripts).toBeLessThanOrEqual(MOST_SCRIPTS)
    expect(complaints).toEqual([])
    await leave()
  })
})
