/** Domains and accounts that are not on the first page, in the palette and in their lists; first screens and states of counts. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUserByName, insertUser, type UserDoc } from '../../services/accounts/store/users.ts'
import { type DomainDoc, domains } from '../../services/mail/domains/store/domain-model.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { newId } from '../../services/platform/ids.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, holdRequests, nextFrames, open, signedIn } from './support/user-actions.ts'

/** More than any page has. */
const MANY = 1_000
/** On a busy machine. */
const PATIENT = { timeout: 30_000 }
let service: PanelService
let browser: TestBrowser
let other: UserDoc

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { db } = service.mongo
  const adminId = (await findUserByName(db, service.admin.username))?._id ?? ''
  other = await giveUser(db, { username: 'z-other' })
  const template = await giveDomain(db, other._id, 'theirs-last.example')
  const docs = Array.from({ length: MANY }, (_, n): DomainDoc => {
    return { ...template, _id: newId('dom'), user_id: adminId, name: `own-${n}.example` }
  })
  await modelOf(db, domains).insertMany(docs)
  for (let n = 0; n < 120; n++) await insertUser(db, { ...other, _id: newId('usr'), username: `member-${n}` })
  await giveUser(db, { username: 'newcomer', role: 'admin' })
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

async function rowsOf(page: Page): Promise<string[]> {
  return page.locator('#content tbody tr').allInnerTexts()
}

test.each(['en', 'zh-CN'] as const)('in %s, the palette and the lists find a name of many', async language => {
  const { palette, messages, domains: words } = catalogues[language]
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
  await open(page, '/domains')
  for (const [text, kind, path] of [
    ['own-998', 'domain', '/domains/own-998.example'],
    ['theirs-last', 'domain', '/admin/domains?search=theirs-last.example'],
    ['member-117', 'user', '/admin/users?id='],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: palette.label }).fill(text)
    await page.getByRole('option').filter({ hasText: text }).filter({ hasText: palette.kinds[kind] }).first().click()
    await page.waitForURL(url => `${url.pathname}${url.search}`.startsWith(path))
    expect(await page.getByRole('dialog').count()).toBe(0)
  }
  for (const [path, text] of [
    ['/domains', 'own-997.example'],
    ['/admin/domains', 'own-996.example'],
    ['/admin/users', 'member-118'],
  ] as const) {
    await open(page, path)
    await page.getByRole('textbox', { name: messages.search }).fill(text.toUpperCase())
    await page.waitForURL(url => url.searchParams.get('search') === text.toUpperCase())
    await expect.poll(async () => (await rowsOf(page)).map(row => row.includes(text)), PATIENT).toEqual([true])
  }
  await open(page, '/domains?search=nothing-like-it')
  await page.getByRole('heading', { name: words.noMatch }).waitFor()
  expect(complaints).toEqual([])
  await leave()
})

test('a domain of the account is offered as such, although the domains of all accounts are there first', async () => {
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/start')
  for (const text of ['own-99', 'own-998']) {
    const release = await holdRequests(page, '**/api/v1/domains?*')
    const all = page.waitForResponse(response => response.url().includes(`/api/v1/admin/domains?search=${text}&`))
    if (text === 'own-99') await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: catalogues.en.palette.label }).fill(text)
    await (await all).finished()
    const offered = await page.getByRole('option').allInnerTexts()
    expect(offered.filter(one => one.includes(catalogues.en.operator.domainsTitle))).toEqual([])
    release()
    await page.getByRole('option').filter({ hasText: text }).first().waitFor()
    await page.unroute('**/api/v1/domains?*')
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.pathname === '/domains/own-998.example')
  expect(complaints).toEqual([])
  await leave()
})

test('the palette keeps its place while results arrive', async () => {
  const { palette, nav } = catalogues.en
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/start')
  const release = await holdRequests(page, '**/api/v1/admin/users?*')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: palette.label }).fill('member')
  await page.getByRole('option').filter({ hasText: nav.members }).waitFor()
  const top = async () => (await page.getByRole('dialog').boundingBox())?.y
  const before = await top()
  release()
  await page.getByRole('option').filter({ hasText: 'member-' }).first().waitFor()
  expect(await top()).toBe(before)
  expect(complaints).toEqual([])
  await leave()
})

test('what arrives later does not move what the palette offers already', async () => {
  const { palette } = catalogues.en
  await giveDomain(service.mongo.db, other._id, 'member.example')
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/start')
  const held = '**/api/v1/admin/domains?*'
  const release = await holdRequests(page, held)
  const [asked, accounts] = [page.waitForRequest(held), page.waitForResponse('**/api/v1/admin/users?*')]
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: palette.label }).fill('member')
  await asked
  await (await accounts).finished()
  await nextFrames(page)
  const account = page.getByRole('option').filter({ hasText: palette.kinds.user })
  expect(await account.count()).toBe(0)
  release()
  await account.first().waitFor()
  expect(await page.getByRole('option').filter({ hasText: 'member.example' }).count()).toBe(1)
  expect(complaints).toEqual([])
  await leave()
})

test.each(['en', 'zh-CN'] as const)('in %s, an admin without domains sees that others have some', async language => {
  const { domains: words } = catalogues[language]
  const login = { username: 'newcomer', password: PASSWORD }
  const { page, complaints, leave } = await signedIn(browser, service.url, login, { language })
  await open(page, '/domains')
  await page.getByRole('heading', { name: words.none }).waitFor()
  await page.getByRole('link', { name: words.ofOthers_other.replace('{{shown}}', '100+') }).click()
  await page.waitForURL(url => url.pathname === '/admin/domains')
  await expect.poll(async () => (await rowsOf(page)).length, PATIENT).toBeGreaterThan(0)
  expect(complaints).toEqual([])
  await leave()
})

test('a user who is no admin sees nothing of the domains of others', async () => {
  const login = { username: 'member-1', password: PASSWORD }
  const { page, complaints, leave } = await signedIn(browser, service.url, login)
  await open(page, '/domains')
  await page.getByRole('heading', { name: catalogues.en.domains.none }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.locator('a[href="/admin/domains"]').count()).toBe(0)
  expect(complaints).toEqual([])
  await leave()
})

test.each(['en', 'zh-CN'] as const)(
  'in %s, the count of messages is loading, failed, current or old',
  async language => {
    const { messages, ui } = catalogues[language]
    const { page, leave } = await signedIn(browser, service.url, service.admin, { language })
    const count = /\/api\/v1\/emails\/count/
    const text = page.getByText(messages.countedText_other.replace('{{shown}}', '0'), { exact: true })
    const { promise: asked, resolve: proceed } = Promise.withResolvers<void>()
    await page.route(count, async route => {
      await asked
      await route.fulfill({ status: 503, json: { code: 'unavailable' } })
    })
    await page.goto('/messages')
    await page.locator('#content').getByRole('status', { name: ui.loading }).first().waitFor()
    proceed()
    const failed = page.getByRole('alert').filter({ has: page.getByRole('button', { name: ui.tryAgain }) })
    await failed.waitFor({ timeout: 60_000 })
    await page.unroute(count)
    await failed.getByRole('button', { name: ui.tryAgain }).click()
    await text.waitFor()
    expect(await failed.count()).toBe(0)
    await page.context().setOffline(true)
    // One for the count and one for the list.
    await expect.poll(() => page.locator('.pw-stale').count(), PATIENT).toBe(2)
    await text.waitFor()
    await page.context().setOffline(false)
    await leave()
  },
)
