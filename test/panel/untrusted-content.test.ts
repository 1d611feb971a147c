/** Untrusted content is shown as text on every page, and is inert in the preview and the source. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PageIds, pagesOf } from './support/page-list.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { REFUSED, seedStored } from './support/seed-database.ts'
import { seedRecords } from './support/seed-records.ts'
import { firstMessage, seed } from './support/seed-through-api.ts'
import { open, signedIn } from './support/user-actions.ts'

const PAYLOAD = `<img src=x onerror="top.hit=1"><script>top.hit=1</script>`
const HTML = `<p>Body</p>${PAYLOAD}<a href="javascript:top.hit=1">x</a><form action="/api/v1/session"></form>
<iframe src="javascript:top.hit=1"></iframe>`
/** HTML of a tracking message: remote stylesheet and image. */
const tracking = (url: string) => `<style>@import url(${url}/x.css)</style><img src="${url}/p.png" alt="">`

let service: PanelService
let browser: TestBrowser
let visitor: Visitor
const NO_IDS: PageIds = { template: '', webhook: '', user: '', appWebhook: '' }
let ids = NO_IDS
/** Messages have cases of their own. */
const CASES = Object.entries(pagesOf(NO_IDS))
  .filter(([route]) => route !== '/messages/$id')
  .flatMap(([route, addresses]) => addresses.map((_, index) => [route, index] as const))
/** A third-party server with its received requests, and the dialogs that opened. */
const elsewhere = createServer((request, response) => {
  happened.push(request.url ?? '')
  response.end()
})
const happened: string[] = []

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  visitor = await signedIn(browser, service.url, service.admin)
  visitor.page.on('dialog', dialog => happened.push(`dialog: ${dialog.message()}`))
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const { port } = elsewhere.address() as AddressInfo
  await seed(visitor.page, { subject: PAYLOAD, html: HTML + tracking(`http://127.0.0.1:${port}`), thing: PAYLOAD })
  await seedStored(service, PAYLOAD)
  ids = await seedRecords(service, visitor.page, { word: 'welcome', text: PAYLOAD })
}, 400_000)

afterAll(async () => {
  elsewhere.close()
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
})

async function expectNothingHappened(): Promise<void> {
  expect(await visitor.page.evaluate('window.hit')).toBeUndefined()
  expect(happened).toEqual([])
}

test.each(CASES)('%s (%i) shows them as text', async (route, index) => {
  visitor.complaints.length = 0
  await open(visitor.page, pagesOf(ids)[route]?.[index] ?? expect.fail('no such address'))
  await expectNothingHappened()
  expect(visitor.complaints).toEqual([])
})

test.each([
  ['/apps/shop/users', 'cell'],
  ['/apps/shop/switches', 'cell'],
  ['/admin/resources', 'listitem'],
  ['/domains/own.example', 'region'],
] as const)('%s really has them', async (path, role) => {
  await open(visitor.page, path)
  await visitor.page.getByRole(role).filter({ hasText: '<img src=x' }).first().waitFor()
  await expectNothingHappened()
})

test.each(['', '?tab=preview', '?tab=source', '?tab=facts'])(
  'replies of receiving servers, tags and headers are text (%s)',
  async tab => {
    visitor.complaints.length = 0
    await open(visitor.page, `/messages/${REFUSED}${tab}`)
    if (tab === '') {
      await visitor.page.getByText('550 5.1.1 <img src=x').first().waitFor()
      await visitor.page.locator('summary').last().click()
      await visitor.page.locator('pre').filter({ hasText: 'S: 220 <img src=x' }).waitFor()
    }
    if (tab === '?tab=preview') await visitor.page.frameLocator('iframe').getByText('<img src=x').waitFor()
    if (tab === '?tab=source') await visitor.page.locator('pre').filter({ hasText: 'X-Odd: <img src=x' }).waitFor()
    await expectNothingHappened()
    expect(visitor.complaints.filter(text => !text.includes('404'))).toEqual([])
  },
)

test('the message page shows the subject as text, also in the title of the tab', async () => {
  await open(visitor.page, `/messages/${await firstMessage(visitor.page)}`)
  await visitor.page.getByRole('heading', { level: 1 }).filter({ hasText: '<script>' }).waitFor()
  expect(await visitor.page.title()).toContain('<script>')
  await expectNothingHappened()
})

test('the preview runs no script, loads no remote content and cannot reach the panel', async () => {
  await open(visitor.page, `/messages/${await firstMessage(visitor.page)}?tab=preview`)
  const frame = visitor.page.frameLocator('iframe')
  await frame.getByText('Body').waitFor()
  expect(await visitor.page.locator('iframe').getAttribute('sandbox')).toBe('')
  await expectNothingHappened()
})

test('the source is shown unchanged', async () => {
  await open(visitor.page, `/messages/${await firstMessage(visitor.page)}?tab=source`)
  await visitor.page
    .locator('pre')
    .filter({ hasText: 'DKIM-Signature' })
    .or(visitor.page.locator('pre'))
    .first()
    .waitFor()
  expect(await visitor.page.locator('pre').first().innerText()).toContain('MIME-Version')
  await expectNothingHappened()
})

test('the inbox opens a captured message in the same sandboxed frame', async () => {
  await open(visitor.page, '/inbox')
  await visitor.page.getByRole('link').filter({ hasText: '<script>' }).first().click()
  await visitor.page.frameLocator('iframe').getByText('Body').waitFor()
  await expectNothingHappened()
})
