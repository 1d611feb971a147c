/** Content that is not current is shown as such: loading, failed, offline and disconnected states; first screens and values to copy. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, holdRequests, open, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** The text of a label before its first parameter. */
const start = (label: string) => label.split('{{')[0] ?? ''

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
    await ask(page, 'POST', '/api/v1/emails', {
      ...{ from: 'hello@sandbox.mail.example.com', to: 'ada@example.org', subject: `Hello ${language}`, text: 'Hello' },
    })
  })
  afterAll(() => visitor?.leave())

  test('offline, a list says as of when it is, and is current again afterwards', async () => {
    await open(page, '/domains')
    await page.getByRole('link', { name: 'sandbox.mail.example.com' }).waitFor()
    await page.context().setOffline(true)
    await page.locator('.pw-stale').getByText(start(labels.ui.staleOffline)).waitFor()
    await page.getByRole('link', { name: 'sandbox.mail.example.com' }).waitFor()
    await page.context().setOffline(false)
    await page.locator('.pw-stale').waitFor({ state: 'detached' })
  })

  test('a part of a page that cannot be read says so instead of being left out', async () => {
    const failing = /\/api\/v1\/(domains|queue\/holds)(\?|$)/
    await page.route(failing, route => route.fulfill({ status: 503, json: { code: 'unavailable' } }))
    const part = (name: string) => page.getByRole('region', { name, exact: true })
    await page.goto('/messages')
    await part(labels.queue.holds).getByRole('alert').getByText(labels.ui.failedTitle).waitFor()
    await page.goto('/')
    const domains = part(labels.nav.domains)
    await domains.getByRole('alert').getByText(labels.ui.failedTitle).waitFor()
    await page.unroute(failing)
    await domains.getByRole('button', { name: labels.ui.tryAgain }).click()
    await domains.getByRole('link', { name: 'sandbox.mail.example.com' }).waitFor()
    // What is shown already stays, and says as of when it is.
    await page.context().setOffline(true)
    await domains.locator('.pw-stale').getByText(start(labels.ui.staleOffline)).waitFor()
    await domains.getByRole('link', { name: 'sandbox.mail.example.com' }).waitFor()
    await page.context().setOffline(false)
    await domains.locator('.pw-stale').waitFor({ state: 'detached' })
  })

  test('rows of the search before are marked while those of this one are fetched', async () => {
    await open(page, '/messages')
    await page.getByRole('link', { name: `Hello ${language}` }).waitFor()
    const release = await holdRequests(page, '**/api/v1/emails?*q=*')
    await page.getByLabel(labels.messages.search).fill('nothing-like-it')
    // Of the list, and of the count above it.
    await page.getByRole('progressbar', { name: labels.ui.updating }).first().waitFor()
    release()
    await page.getByText(labels.messages.noMatch).waitFor()
    await page.unroute('**/api/v1/emails?*q=*')
  })

  test('Live ends with the stream, says so, and can be switched on again', async () => {
    const stream = '**/api/v1/events/stream'
    // The page tries again by itself as well, which must not succeed before the switch is used.
    const release = await holdRequests(page, stream)
    await page.route(stream, route => route.fulfill({ status: 503, json: { code: 'unavailable' } }), { times: 1 })
    await page.goto('/messages')
    const broken = page.getByRole('switch', { name: labels.messages.liveBroken })
    await broken.waitFor()
    expect(await broken.isChecked()).toBe(false)
    await broken.click()
    await page.getByRole('switch', { name: labels.messages.liveConnecting }).waitFor()
    release()
    const live = page.getByRole('switch', { name: labels.messages.live, exact: true })
    await live.waitFor()
    expect(await live.isChecked()).toBe(true)
    await page.unroute(stream)
    await page.context().setOffline(true)
    await broken.waitFor()
    await page.context().setOffline(false)
  })

  test('a page whose code cannot be loaded keeps the frame, and can be retried', async () => {
    await open(page, '/domains')
    await page.route('**/assets/limits-page*', route => route.abort())
    await page.context().setOffline(true)
    await page.getByRole('link', { name: labels.nav.limits }).click()
    await page.getByRole('alert').getByText(labels.ui.pageFailedTitle).waitFor()
    await page.getByRole('navigation', { name: labels.ui.menu }).waitFor()
    await page.context().setOffline(false)
    await page.unroute('**/assets/limits-page*')
    await page.getByRole('button', { name: labels.ui.tryAgain }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText(labels.ui.pageFailedTitle).waitFor({ state: 'detached' })
  })

  test('the first screen of a newcomer names the first step', async () => {
    const username = `first-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    const newcomer = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    await newcomer.page.waitForURL('**/start')
    await newcomer.page.getByRole('link', { name: labels.nav.overview, exact: true }).click()
    await newcomer.page.getByRole('heading', { name: labels.overview.firstTitle }).waitFor()
    await newcomer.page.getByRole('link', { name: labels.overview.firstAction, exact: true }).last().click()
    await newcomer.page.waitForURL('**/start')
    await open(newcomer.page, '/send')
    await newcomer.page.getByText(labels.messages.noSender).waitFor()
    await newcomer.leave()
  })

  test('a test message has a sender of a domain that may send', async () => {
    await open(page, '/send')
    const from = page.getByLabel(labels.messages.from)
    await expect.poll(() => from.inputValue()).toBe('hello@sandbox.mail.example.com')
  })

  test('a password that can be copied again is not called shown only now, and its button covers no text', async () => {
    await open(page, '/smtp')
    await page.getByRole('button', { name: labels.access.newLogin }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(labels.access.login).fill(`mailer-${language.toLowerCase()}`)
    await dialog.getByRole('button', { name: labels.ui.create }).click()
    await dialog.getByText(labels.start.passwordAgain).waitFor()
    expect(await dialog.getByText(labels.ui.secretOnce).count()).toBe(0)
    const text = await page.evaluate<number>(`(() => {
      const pre = document.querySelector('[role=dialog] pre')
      return pre.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(pre).paddingRight)
    })()`)
    const button = await dialog.locator('pre + div button').first().boundingBox()
    expect(text).toBeLessThanOrEqual(button?.x ?? 0)
  })

  test('a message is found by its id and by a part of its recipient', async () => {
    const { data } = (await ask(page, 'GET', '/api/v1/emails?limit=1')) as { data: { id: string }[] }
    for (const query of [`q=${data[0]?.id}`, 'to=ada', 'to=@example.org', 'to=example']) {
      await open(page, `/messages?${query}`)
      await page
        .getByRole('link', { name: `Hello ${language}` })
        .first()
        .waitFor()
    }
  })
})

test('a chart that could not be read again says so, and can be read again', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await page.clock.install()
  await open(page, '/')
  const charts = async () => {
    await page.clock.runFor(100)
    return page.locator('.pw-chart').count()
  }
  await expect.poll(charts, { timeout: 30_000 }).toBeGreaterThan(0)
  await page.route('**/api/v1/stats**', route => route.fulfill({ status: 503, json: { code: 'unavailable' } }))
  await page.clock.fastForward(60_000)
  await page.getByRole('link', { name: catalogues.en.nav.tokens }).click()
  const elsewhere = async () => {
    await page.clock.runFor(100)
    return page.getByRole('heading', { level: 1, name: catalogues.en.access.tokensTitle }).count()
  }
  await expect.poll(elsewhere).toBe(1)
  await page.getByRole('link', { name: catalogues.en.nav.overview }).click()
  // Failed reads are repeated after pauses of the stopped clock.
  const stale = async () => {
    await page.clock.runFor(5_000)
    return page.locator('.pw-stale').count()
  }
  await expect.poll(stale, { timeout: 60_000 }).toBe(1)
  await page.locator('.pw-stale').getByText(start(catalogues.en.ui.staleFailed)).waitFor()
  await page.unroute('**/api/v1/stats**')
  await page.locator('.pw-stale').getByRole('button', { name: catalogues.en.ui.tryAgain }).click()
  await page.locator('.pw-stale').waitFor({ state: 'detached' })
  await leave()
})
