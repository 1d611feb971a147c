/** Text filters and the address. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, holdRequests, open, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser
let page: Page

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const labels = catalogues.en

beforeEach(async ({ onTestFinished }) => {
  const visitor = await signedIn(browser, service.url, service.admin)
  page = visitor.page
  // Not in `afterEach`: that is before the page of a failed test is printed.
  onTestFinished(() => visitor.leave())
})

const field = () => page.getByRole('textbox', { name: labels.messages.search })
const asked = (q: string) => page.waitForURL(url => url.searchParams.get('q') === q)

test('a trailing space is kept during a search', async () => {
  await open(page, '/messages')
  await field().pressSequentially('two ')
  await asked('two')
  expect(await field().inputValue()).toBe('two ')
  await field().pressSequentially('words')
  await asked('two words')
  expect(await field().inputValue()).toBe('two words')
})

test('a single letter stays in the field and is not searched for', async () => {
  await open(page, '/messages?q=ab')
  const refused: string[] = []
  page.on('response', response => {
    if (response.status() >= 400) refused.push(response.url())
  })
  const answered = page.waitForResponse(
    response => response.url().includes('/api/v1/emails') && !new URL(response.url()).searchParams.has('q'),
  )
  await field().press('End')
  await field().press('Backspace')
  await answered
  expect(await field().inputValue()).toBe('a')
  await field().pressSequentially('c')
  await asked('ac')
  expect(await field().inputValue()).toBe('ac')
  expect(refused).toEqual([])
})

test('input between a request and its response is not lost', async () => {
  await open(page, '/messages')
  const release = await holdRequests(page, '**/api/v1/emails?**')
  await field().pressSequentially('one')
  await asked('one')
  await field().pressSequentially(' by one')
  release()
  await asked('one by one')
  expect(await field().inputValue()).toBe('one by one')
})

test('back, clearing filters and links set the field', async () => {
  await open(page, '/messages?q=first')
  expect(await field().inputValue()).toBe('first')
  await page.getByRole('button', { name: labels.messages.clearFilters }).first().click()
  await page.waitForURL(url => !url.searchParams.has('q'))
  // The page is rendered after its address has changed.
  await expect.poll(() => field().inputValue()).toBe('')
  await page.goto('/messages?q=%22007%22')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await field().inputValue()).toBe('007')
})

test('filters cleared while typing do not reappear', async () => {
  await page.clock.install()
  await open(page, '/messages?q=first')
  await field().pressSequentially(' and more')
  await page.getByRole('button', { name: labels.messages.clearFilters }).first().click()
  await page.waitForURL(url => !url.searchParams.has('q'))
  await page.clock.runFor(2_000)
  await expect.poll(() => field().inputValue()).toBe('')
  expect(new URL(page.url()).searchParams.has('q')).toBe(false)
})

test('typed text is not applied once another page is on its way', async () => {
  await page.clock.install()
  await open(page, '/messages')
  const release = await holdRequests(page, '**/assets/*.js')
  await field().pressSequentially('first')
  await page.getByRole('link', { name: labels.nav.domains, exact: true }).click()
  await page.clock.runFor(2_000)
  release()
  await page.waitForURL('**/domains')
  await page.getByRole('heading', { level: 1, name: labels.domains.title }).waitFor()
})

test.each([
  ['digits', '42'],
  ['digits that begin with 0', '007'],
  ['more digits than a number holds', '12345678901234567890'],
  ['what JSON would read', 'true'],
  ['signs of an address', 'a&b=c#d%20'],
  ['characters of any script', '测试 ñ 🚀'],
])('%s are searched as typed, also after a reload', async (_what, text) => {
  await open(page, '/messages')
  const answered = page.waitForResponse(
    response => response.url().includes('/api/v1/emails') && new URL(response.url()).searchParams.get('q') === text,
  )
  await field().fill(text)
  await answered
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await field().inputValue()).toBe(text)
})
