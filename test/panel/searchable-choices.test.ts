/** Fields with a list that is searched by typing, by keyboard alone: Enter chooses what is typed, and never submits without it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

const labels = catalogues.en
const OWN = 'sandbox.mail.example.com'

let service: PanelService
let browser: TestBrowser
let visitor: Visitor
let page: Page

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  visitor = await signedIn(browser, service.url, service.admin)
  page = visitor.page
}, 400_000)

afterAll(async () => {
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
})

const dialog = () => page.getByRole('dialog')
const options = () => page.getByRole('option')

test('without apps the choice of the app says so, also on the page that is opened first', async () => {
  await open(page, '/start')
  await page.reload()
  await page.getByRole('button', { name: labels.nav.subscriptions, exact: true }).click()
  const choice = page.getByRole('combobox', { name: labels.nav.app }).and(page.getByPlaceholder(labels.nav.noApps))
  await choice.waitFor()
  expect(await choice.isDisabled()).toBe(true)
})

test('a choice of several: Enter adds the first match, and does not create a token that is not limited', async () => {
  await open(page, '/tokens')
  await page.getByRole('button', { name: labels.access.newToken }).first().click()
  await dialog().getByRole('textbox', { name: labels.access.name }).fill('Backend')
  const domains = dialog().getByRole('combobox', { name: labels.access.onlyDomains })
  await domains.click()
  await options().getByText(OWN).waitFor()

  await domains.fill('other.example')
  await page.getByText(labels.ui.noOption, { exact: true }).waitFor()
  await domains.press('Enter')
  await domains.fill('SANDBOX')
  await options().getByText(OWN).waitFor()
  await domains.press('Enter')
  await dialog().locator('.mantine-Pill-root', { hasText: OWN }).waitFor()
  expect(await domains.inputValue()).toBe('')

  // A second time it neither removes the domain nor adds it again.
  await domains.fill('sandbox')
  await page.getByText(labels.ui.noOption, { exact: true }).waitFor()
  await domains.press('Enter')
  expect(await dialog().locator('.mantine-Pill-root').count()).toBe(1)

  await domains.fill('')
  await domains.press('Enter')
  await dialog().getByText(labels.ui.secretOnce).waitFor()
  const { data } = (await ask(page, 'GET', '/api/v1/tokens')) as { data: { name: string; domains: string[] }[] }
  expect(data.filter(({ name }) => name === 'Backend').map(token => token.domains)).toEqual([[OWN]])
  await dialog().getByRole('button', { name: labels.ui.secretKept }).click()
})

test('a choice of one: only a match of what is typed is chosen', async () => {
  await open(page, '/settings')
  const zone = page.getByRole('combobox', { name: labels.account.zone })
  expect(await zone.inputValue()).toBe('Europe/Berlin')
  for (const [typed, shown] of [
    // Empty, or the present choice again: the list is then not filtered.
    ['', 'Europe/Berlin'],
    ['Europe/Berlin', 'Europe/Berlin'],
    // It matches the present choice alone.
    ['rope/Berl', 'Europe/Berlin'],
    ['Atlantis', 'Europe/Berlin'],
    ['tokyo', 'Asia/Tokyo'],
  ] as const) {
    await zone.click()
    await options().first().waitFor()
    await zone.press('ControlOrMeta+a')
    await zone.press('Delete')
    await zone.pressSequentially(typed)
    if (typed === 'Atlantis') await page.getByText(labels.ui.noOption, { exact: true }).waitFor()
    await zone.press('Enter')
    await zone.blur()
    await expect.poll(() => zone.inputValue(), { message: typed }).toBe(shown)
  }
  await expect
    .poll(async () => ((await ask(page, 'GET', '/api/v1/session')) as { user: { tz: string } }).user.tz)
    .toBe('Asia/Tokyo')
  expect(visitor.complaints).toEqual([])
})
