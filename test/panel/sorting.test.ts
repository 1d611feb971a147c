/** Lists that the service sorts: by the heading with the keyboard, by the list of choices on a phone, in the address. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { giveMessage } from '../support/mail/stored-messages.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser
const NAMES = ['bert', 'cleo', 'anna']
const BY_NAME = ['anna', 'bert', 'cleo']

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const userId = (await findUserByName(service.mongo.db, service.admin.username))?._id ?? ''
  const now = Date.now()
  for (let n = 0; n < 25; n++)
    await giveMessage(service.mongo.db, userId, { created_at: new Date(now - n * 60_000), subject: `Message ${n}` })
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  for (const name of NAMES) {
    await ask(page, 'POST', '/api/v1/suppressions', { email: `${name}@example.net` })
    await ask(page, 'POST', '/api/v1/tokens', { name })
    await ask(page, 'POST', '/api/v1/templates', { name, subject: 'Hello', text: 'Hi' })
    await ask(page, 'POST', '/api/v1/admin/users', { username: name })
  }
  await leave()
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** The texts of the rows that contain one of the words, in their order. */
const rowsWith = (page: Page, words: readonly string[]) => async () => {
  const texts = await page.locator('tbody tr').allInnerTexts()
  return texts.flatMap(text => words.filter(word => text.includes(word)))
}

test.each(['en', 'zh-CN'] as const)('the message log from the oldest on, by keyboard, in %s', async language => {
  const labels = catalogues[language]
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
  await open(page, '/messages')
  const heading = page.getByRole('columnheader', { name: labels.messages.accepted })
  await page.getByRole('link', { name: 'Message 0' }).waitFor()
  expect(await heading.getAttribute('aria-sort')).toBe('descending')
  await heading.getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.searchParams.get('order') === 'asc')
  await page.getByRole('link', { name: 'Message 24' }).waitFor()
  expect(await heading.getAttribute('aria-sort')).toBe('ascending')
  // New messages come at the other end.
  expect(await page.getByRole('switch', { name: labels.messages.live }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: labels.ui.nextPage }).click()
  await page.getByRole('link', { name: 'Message 0', exact: true }).waitFor()
  // A cursor of one order is not kept in the other one.
  await heading.getByRole('button').click()
  await page.waitForURL(url => !url.searchParams.has('order') && !url.searchParams.has('after'))
  await page.getByRole('link', { name: 'Message 0', exact: true }).waitFor()
  expect(await page.getByRole('columnheader', { name: labels.messages.subject }).getByRole('button').count()).toBe(0)
  expect(complaints).toEqual([])
  await leave()
})

const labels = catalogues.en

describe('by name', () => {
  test.each([
    ['/suppressions', labels.suppressions.address],
    ['/templates', labels.templates.name],
    ['/admin/users', labels.account.username],
  ])('%s: ascending and descending, kept by a reload', async (path, column) => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
    await open(page, path)
    const heading = page.getByRole('columnheader', { name: column, exact: true })
    const rows = rowsWith(page, NAMES)
    await heading.getByRole('button').click()
    await expect.poll(rows, { timeout: 20_000 }).toEqual(BY_NAME)
    await heading.getByRole('button').click()
    await expect.poll(rows, { timeout: 20_000 }).toEqual(BY_NAME.toReversed())
    await page.reload()
    await expect.poll(rows, { timeout: 20_000 }).toEqual(BY_NAME.toReversed())
    expect(await heading.getAttribute('aria-sort')).toBe('descending')
    expect(complaints).toEqual([])
    await leave()
  })
})

test('on a phone a list of choices sorts, with a name for screen readers', async () => {
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { width: 390 })
  await open(page, '/tokens')
  const choice = page.getByRole('combobox', { name: labels.ui.sortBy })
  const rows = rowsWith(page, NAMES)
  await expect.poll(rows, { timeout: 20_000 }).toEqual(NAMES)
  await choice.selectOption({ label: labels.ui.sorted.desc.replace('{{column}}', labels.ui.created) })
  await expect.poll(rows, { timeout: 20_000 }).toEqual(NAMES.toReversed())
  await page.setViewportSize({ width: 1280, height: 900 })
  await choice.waitFor({ state: 'hidden' })
  expect(complaints).toEqual([])
  await leave()
})

test('filters without a field are shown, kept in a view, and can be removed', async () => {
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
  const filters = { from: 'shop@example.com', template: 'tpl_1', message_id: '<1@example.com>' }
  await ask(page, 'POST', '/api/v1/me/message-views', { name: 'By the API', filters })
  await open(page, '/messages')
  await page.getByRole('button', { name: labels.messages.views.title }).click()
  await page.getByRole('menuitem', { name: 'By the API' }).click()
  await page.waitForURL(url => Object.entries(filters).every(([name, value]) => url.searchParams.get(name) === value))
  await page.getByRole('button', { name: 'By the API' }).waitFor()
  const chip = (text: string) =>
    page.getByRole('button', { name: labels.messages.removeFilter.replace('{{filter}}', text) })
  await chip(`${labels.messages.template}: tpl_1`).waitFor()
  await chip('Message-ID: <1@example.com>').click()
  await page.waitForURL(url => !url.searchParams.has('message_id') && url.searchParams.get('template') === 'tpl_1')
  await chip(`${labels.messages.from}: shop@example.com`).press('Enter')
  await page.waitForURL(url => !url.searchParams.has('from'))
  await page.getByRole('button', { name: labels.messages.clearFilters }).first().click()
  await page.waitForURL(url => url.search === '')
  expect(complaints).toEqual([])
  await leave()
})
