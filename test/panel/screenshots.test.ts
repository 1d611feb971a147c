/** Pictures of every page with things on it, kept as artefacts of the run; SCREENSHOTS names the folder. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Look, startBrowser, type TestBrowser } from './support/browser.ts'
import { PAGES } from './support/pages.ts'
import { open, signedIn } from './support/people.ts'
import { firstMessage, seed } from './support/seed.ts'
import { type PanelService, startPanelService } from './support/service.ts'

const FOLDER = process.env.SCREENSHOTS ?? join(import.meta.dirname, 'screenshots')

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true })
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const html = '<h1>Thank you</h1><p>Your order has left our house.</p>'
  await seed(page, { subject: 'Your order is on its way', html, thing: 'Paper Shop' })
  await leave()
}, 180_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

test.each<[string, Look]>([
  ['en-light', { language: 'en', scheme: 'light' }],
  ['zh-dark', { language: 'zh-CN', scheme: 'dark' }],
  ['zh-phone', { language: 'zh-CN', scheme: 'light', width: 390, height: 844 }],
])(
  '%s',
  async (name, look) => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, look)
    const message = await firstMessage(page)
    for (const path of [...PAGES, `/messages/${message}`, `/messages/${message}?tab=preview`]) {
      await open(page, path)
      const file = path.replace(message, 'one').replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'overview'
      await page.screenshot({ path: join(FOLDER, `${file}.${name}.png`), fullPage: true })
    }
    expect(complaints).toEqual([])
    await leave()
  },
  300_000,
)
