/** The bars of the overview: their values, where they lead, and the axis, in both languages and two widths. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/time/until.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

/** Messages of the running hour. */
const SENT = 3

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const body = { from: 'hello@sandbox.mail.example.com', to: 'you@example.org', subject: 'Counted', text: 'Hello.' }
  for (let n = 0; n < SENT; n++) await ask(page, 'POST', '/api/v1/emails', body)
  await until(async () => {
    const { totals } = (await ask(page, 'GET', '/api/v1/stats/hours?hours=24')) as { totals: { delivered: number } }
    return totals.delivered === SENT
  }, 90_000)
  await leave()
}, 240_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

test.each([
  ['en', 1280],
  ['zh-CN', 1280],
  ['en', 390],
  ['zh-CN', 390],
] as const)('in %s, %d pixels wide, a bar shows its values and leads to its messages', async (language, width) => {
  const labels = catalogues[language]
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language, width })
  await open(page, '/?hours=24')
  const columns = page.locator('.pw-chart-column')
  await columns.last().waitFor()
  expect(await columns.count()).toBe(24)
  // Two sends may be on two sides of an hour.
  const column = columns.filter({ has: page.locator('.pw-chart-bar > span') }).last()
  await column.hover()
  await picture(page, 'chart', language, width)
  const values = page.locator('.pw-chart-values')
  await values
    .getByText(new RegExp(`${labels.overview.series.delivered}${labels.label.separator}[1-${SENT}]$`))
    .waitFor()
  await values.getByText(`${labels.overview.series.bounced}${labels.label.separator}0`).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  const dates = await page.locator('.pw-chart-date:visible').all()
  const boxes = await Promise.all(dates.map(date => date.boundingBox()))
  expect(boxes.length).toBeGreaterThan(2)
  for (const [index, box] of boxes.entries())
    expect(box?.x, `date ${index}`).toBeGreaterThanOrEqual((boxes[index - 1]?.x ?? 0) + (boxes[index - 1]?.width ?? 0))
  const [most, ticks] = await Promise.all([column.locator('.pw-chart-bar').boundingBox(), axis()])
  expect(ticks[0]).toBe('0')
  expect(Number(ticks.at(-1))).toBeGreaterThanOrEqual(1)
  expect(most?.height).toBeGreaterThan(0)
  await column.locator('.pw-chart-bar > span').click()
  await page.waitForURL(/\/messages\?/)
  await page.getByRole('link', { name: 'Counted' }).first().waitFor()
  expect(complaints).toEqual([])
  await leave()

  function axis(): Promise<string[]> {
    return page.locator('.pw-chart-tick').allInnerTexts()
  }
})
