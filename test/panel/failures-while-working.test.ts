/** Failures during use: invalid fields, expired sessions, missing events, concurrent changes. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credentials } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import { upsertUser } from '../../services/subscriptions/people/manage-end-users.ts'
import { giveCredential, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, holdRequests, open, picture, signedIn, signIn } from './support/user-actions.ts'

const titles = { en: english, 'zh-CN': chinese.texts }

const labels = catalogues.en
const OWNER = { kind: 'SMTPCredential', namespace: 'web', name: 'mailer', uid: 'u1' }

let service: PanelService
let browser: TestBrowser
let visitor: Visitor
let page: Page

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  visitor = await signedIn(browser, service.url, service.admin)
  page = visitor.page
  for (const key of ['shop', 'game'])
    await ask(page, 'POST', '/subscription-api/app_manage', { app_name: `The ${key}`, app_key: key })
  const plan = { name: 'Gold', price: '1.00', duration: 30, features: '{"features":[]}' }
  await ask(page, 'POST', '/subscription-api/subscription_plan?app_key=shop', plan)
  const context = openSubscriptions(service.foundation)
  for (const [app, nickname] of [
    ['shop', 'Ada'],
    ['shop', 'Grace'],
    ['game', 'Lin'],
  ] as const)
    await upsertUser(context, app, { identities: { openid: nickname }, profile: { nickname } })
}, 400_000)

afterAll(async () => {
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
})

const dialog = () => page.getByRole('dialog')
const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })
const menuOf = (name: string) => page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', name) })

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const said = catalogues[language]

  test('an invalid field shows its error, gets the focus and keeps the input', async () => {
    const reader = await signedIn(browser, service.url, service.admin, { language, width: 360, height: 800 })
    await open(reader.page, '/tokens')
    await reader.page.getByRole('button', { name: said.access.newToken }).first().click()
    const form = reader.page.getByRole('dialog')
    const name = form.getByRole('textbox', { name: said.access.name })
    const networks = form.getByRole('textbox', { name: said.access.networks })
    await networks.fill('somewhere')
    await form.getByRole('button', { name: said.ui.create }).click()
    await name.and(reader.page.locator('[aria-invalid=true]:focus')).waitFor()
    await networks.and(reader.page.locator('[aria-invalid=true]')).waitFor()
    await form.getByRole('alert').getByText(titles[language]['problem.validation_failed']).waitFor()
    await picture(reader.page, 'refused', language)
    // A click outside of the dialog does not close it.
    await reader.page.mouse.click(3, 3)
    expect(await networks.inputValue()).toBe('somewhere')
    await reader.leave()
  })
})

test('a language chosen before signing in is saved to the account', async () => {
  const login = { username: 'polyglot', password: PASSWORD }
  await giveUser(service.mongo.db, { username: login.username, lang: 'en' })
  const first = await browser.visit(service.url)
  await first.page.goto('/sign-in')
  await first.page.getByRole('button', { name: labels.ui.language }).click()
  await first.page.getByRole('menuitem', { name: '简体中文' }).click()
  await first.page.locator('html[lang=zh-CN]').waitFor()
  const kept = first.page.waitForResponse(response => response.request().method() === 'PATCH')
  await signIn(first.page, login)
  expect((await kept).status()).toBe(200)
  await first.page.getByRole('link', { name: catalogues['zh-CN'].nav.domains, exact: true }).waitFor()
  await first.leave()

  const second = await browser.visit(service.url)
  await second.page.goto('/sign-in')
  await signIn(second.page, login)
  await second.page.getByRole('link', { name: catalogues['zh-CN'].nav.domains, exact: true }).waitFor()
  await second.leave()
})

test('a failure to save the language chosen before signing in is reported, also after the page was left', async () => {
  const login = { username: 'monoglot', password: PASSWORD }
  await giveUser(service.mongo.db, { username: login.username, lang: 'en' })
  const reader = await browser.visit(service.url)
  const { promise: inside, resolve: enter } = Promise.withResolvers<void>()
  await reader.page.route('**/api/v1/me', async route => {
    await inside
    await route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'The database is away.' } })
  })
  await reader.page.goto('/sign-in')
  await reader.page.getByRole('button', { name: labels.ui.language }).click()
  await reader.page.getByRole('menuitem', { name: '简体中文' }).click()
  await reader.page.locator('html[lang=zh-CN]').waitFor()
  await signIn(reader.page, login)
  enter()
  await reader.page.getByRole('alert').getByText(titles['zh-CN']['problem.unavailable']).waitFor()
  await reader.leave()
})

test('a session that expires without an open form is reported on the sign-in page, which returns to the requested page', async () => {
  const reader = await signedIn(browser, service.url, service.admin)
  await open(reader.page, '/domains')
  await reader.page.context().clearCookies()
  await reader.page.getByRole('link', { name: labels.nav.tokens }).click()
  await reader.page.getByText(labels.account.sessionEnded).waitFor()
  await signIn(reader.page, service.admin)
  await reader.page.waitForURL('**/tokens')
  await reader.page.getByText(labels.access.noTokens).waitFor()
  expect(await reader.page.getByText(labels.account.sessionEnded).count()).toBe(0)
  await reader.leave()
})

test('copying works without the clipboard API, also within a dialog', async () => {
  const reader = await signedIn(browser, service.url, service.admin)
  await reader.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await reader.page.addInitScript('delete Navigator.prototype.clipboard')
  await open(reader.page, '/start')
  await reader.page.getByRole('button', { name: labels.ui.copyWhat.replace('{{what}}', labels.start.tab.curl) }).click()
  await reader.page.getByRole('button', { name: labels.ui.copied }).waitFor()
  await open(reader.page, '/smtp')
  await reader.page.getByRole('button', { name: labels.access.newLogin }).first().click()
  const name = reader.page.getByRole('textbox', { name: labels.access.senders })
  await name.focus()
  await reader.page.keyboard.press('Control+V')
  await expect.poll(() => name.inputValue(), { timeout: 30_000 }).toContain('curl')
  await reader.leave()
})

test('a rejected event stream is opened again, and missed events are fetched', async () => {
  const stream = '**/api/v1/events/stream'
  await page.route(stream, route => route.fulfill({ status: 429, json: { code: 'rate_limited' } }), { times: 1 })
  const answered = (status: number) =>
    page.waitForResponse(response => response.url().endsWith('/events/stream') && response.status() === status)
  // Both are awaited from the beginning: the page may try again before the test goes on.
  await Promise.all([answered(429), answered(200), page.goto('/messages')])
  await ask(page, 'POST', '/api/v1/emails', {
    from: 'hello@sandbox.mail.example.com',
    to: 'you@example.org',
    subject: 'After the break',
    text: 'Hello',
  })
  await page.getByRole('link', { name: 'After the break' }).waitFor()
  await rowOf('After the break').getByText(labels.messages.status.delivered).waitFor()
  visitor.complaints.length = 0
})

test("a day of the log starts in the user's time zone, also after a reload", async () => {
  await open(page, '/messages')
  await page.getByRole('combobox', { name: labels.messages.period }).click()
  await page.getByRole('option', { name: labels.messages.customPeriod }).click()
  await page.getByLabel(labels.messages.since).fill('2026-11-21')
  // The browser's time zone is Europe/Berlin.
  await page.waitForURL(url => url.searchParams.get('since') === '2026-11-20T23:00:00.000Z')
  await page.reload()
  expect(await page.getByLabel(labels.messages.since).inputValue()).toBe('2026-11-21')
  await page.getByRole('button', { name: labels.messages.clearFilters }).click()
  await page.waitForURL(url => url.search === '')
})

test('filters without a match are kept in the address, are reported and can be cleared', async () => {
  await open(page, '/apps/shop/users?search=Nobody')
  await page.getByText(labels.subs.noMatch).waitFor()
  expect(await page.getByText(labels.subs.noUsers).count()).toBe(0)
  await page.getByRole('button', { name: labels.messages.clearFilters }).click()
  await rowOf('Ada').waitFor()
  await page.waitForURL(url => url.search === '')
})

test('an export contains the filtered users, and none of another app', async () => {
  await open(page, '/apps/shop/users?search=Ad')
  await rowOf('Ada').waitFor()
  const started = page.waitForEvent('download')
  await page.getByRole('link', { name: labels.subs.exportHint }).click()
  const lines = (await readFile(await (await started).path(), 'utf8')).trim().split(/\r?\n/)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('Ada')
})

test('users of the previous app are not shown while those of another app are loading', async () => {
  await open(page, '/apps/shop/users')
  await rowOf('Grace').waitFor()
  const release = await holdRequests(page, '**/subscription-api/user?app_key=game**')
  await page.getByRole('combobox', { name: labels.nav.app }).click()
  await page.getByRole('option', { name: 'The game' }).click()
  await page.getByRole('status', { name: labels.ui.loading }).waitFor()
  expect(await rowOf('Grace').count()).toBe(0)
  release()
  await rowOf('Lin').waitFor()
  await page.unroute('**/subscription-api/user?app_key=game**')
})

test('changing a login that a resource has adopted is rejected with a message, and the login is shown as managed', async () => {
  const user = await ask(page, 'GET', '/api/v1/session').then(session => (session as { user: { id: string } }).user)
  const login = await giveCredential(service.mongo.db, user.id, 'mailer')
  await open(page, '/smtp')
  await menuOf('mailer').click()
  await page.getByRole('menuitem', { name: labels.access.changeLimits }).click()
  await collectionOf(service.mongo.db, credentials).updateOne({ _id: login._id }, { $set: { managed_by: OWNER } })
  await dialog().getByRole('textbox', { name: labels.access.perHour }).fill('5')
  await dialog().getByRole('button', { name: labels.ui.save }).click()
  await dialog().getByRole('alert').getByText('SMTPCredential web/mailer').waitFor()
  await page.keyboard.press('Escape')
  await page.reload()
  await page.getByRole('link', { name: 'SMTPCredential web/mailer' }).waitFor()
  expect(await menuOf('mailer').count()).toBe(0)
  visitor.complaints.length = 0
})

test('a plan that was changed concurrently is not overwritten', async () => {
  await open(page, '/apps/shop/plans')
  await menuOf('Gold').click()
  await page.getByRole('menuitem', { name: labels.ui.edit }).click()
  await dialog().getByRole('textbox', { name: labels.subs.name }).fill('Mine')
  const { plans } = openSubscriptions(service.foundation).collections
  await plans.updateOne({ app_key: 'shop', name: 'Gold' }, { $set: { name: 'Theirs' }, $inc: { version: 1 } })
  await dialog().getByRole('button', { name: labels.ui.save }).click()
  await dialog().getByRole('alert').waitFor()
  expect(await dialog().getByRole('textbox', { name: labels.subs.name }).inputValue()).toBe('Mine')
  await page.keyboard.press('Escape')
  await page.reload()
  await rowOf('Theirs').waitFor()
  visitor.complaints.length = 0
})

test('a failed change is reported, and the row stays unchanged', async () => {
  await open(page, '/apps/shop/users')
  await page.route('**/subscription-api/user/*', route =>
    route.fulfill({ status: 503, json: { code: 50300, message: 'The database is away.', data: null } }),
  )
  await menuOf('Ada').click()
  await page.getByRole('menuitem', { name: labels.access.disable }).click()
  await page.getByText('The database is away.').waitFor()
  await rowOf('Ada').getByText(labels.subs.userStatus['1'], { exact: true }).waitFor()
  await page.unroute('**/subscription-api/user/*')
  visitor.complaints.length = 0
})

test('every scope of a token has a label', async () => {
  await open(page, '/tokens')
  await page.getByRole('button', { name: labels.access.newToken }).first().click()
  for (const label of Object.values(labels.access.scope))
    await dialog().getByRole('checkbox', { name: label, exact: true }).waitFor()
  await page.keyboard.press('Escape')
  expect(visitor.complaints).toEqual([])
})
