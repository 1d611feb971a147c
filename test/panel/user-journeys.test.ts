/** Main user journeys in a real browser against the real service, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, signedIn, signIn } from './support/user-actions.ts'

const titles = { en: english, 'zh-CN': chinese.texts }

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]

  test('a wrong password is reported, the right one leads to the requested page', async () => {
    const { page, complaints, leave } = await browser.visit(service.url, { language })
    await page.goto('/tokens')
    await page.waitForURL(/\/sign-in\?to=/)
    await page.locator('input[autocomplete=username]').fill(service.admin.username)
    await page.locator('input[autocomplete=current-password]').fill('wrong password')
    await page.locator('button[type=submit]').click()
    await page.getByRole('alert').getByText(titles[language]['problem.invalid_login']).waitFor()
    await signIn(page, service.admin)
    await page.waitForURL('**/tokens')
    expect(complaints.filter(text => !text.includes('401'))).toEqual([])
    await leave()
  })

  test('from a new domain to an accepted message, with a token that is shown once', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    const name = `${language.toLowerCase()}.example.com`
    await open(page, '/domains')
    await page.getByRole('button', { name: labels.domains.add }).first().click()
    await page.getByRole('textbox', { name: labels.domains.name }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: labels.domains.add }).click()
    await page.waitForURL(`**/domains/${name}`)
    await page.getByText(labels.domains.status.pending).first().waitFor()

    await open(page, '/tokens')
    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    await page.getByRole('textbox', { name: labels.access.name }).fill(`shop ${language}`)
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create }).click()
    const token = await page.locator('pre').filter({ hasText: 'pw_live_' }).innerText()
    expect(token).toMatch(/^pw_live_\w+_[\w-]{20,}$/)
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    await page.getByRole('cell', { name: `shop ${language}`, exact: true }).waitFor()
    expect(await page.content()).not.toContain(token)

    await open(page, '/send')
    await page.getByRole('textbox', { name: labels.messages.from }).fill('hello@sandbox.mail.example.com')
    await page.getByRole('textbox', { name: labels.messages.to }).fill('you@example.org')
    await page.getByRole('textbox', { name: labels.messages.subject }).fill(`Journey ${language}`)
    await page.getByRole('button', { name: labels.messages.sendAction }).click()
    await page.getByRole('link', { name: labels.messages.view }).click()
    await page.getByRole('heading', { level: 1, name: `Journey ${language}` }).waitFor()
    await page.getByRole('heading', { name: 'you@example.org' }).waitFor()
    expect(complaints).toEqual([])
    await leave()
  })

  test('the scope to send over MCP is not selected at first, and comes with a warning', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    const { scope, mcpSendWarning } = labels.access
    await open(page, '/tokens')
    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    const form = page.getByRole('dialog')
    const box = (name: 'mcp' | 'mcp:send') => form.getByRole('checkbox', { name: scope[name], exact: true })
    expect([await box('mcp').isChecked(), await box('mcp:send').isChecked()]).toEqual([false, false])
    await box('mcp').check()
    expect(await form.getByText(mcpSendWarning).count()).toBe(0)
    await box('mcp:send').check()
    await form.getByText(mcpSendWarning).waitFor()
    await page.getByRole('textbox', { name: labels.access.name }).fill(`assistant ${language}`)
    await form.getByRole('button', { name: labels.ui.create }).click()
    const token = await page.locator('pre').filter({ hasText: 'pw_live_' }).innerText()
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const answer = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(request),
    })
    expect(await answer.text()).toContain('send_email')
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    expect(complaints).toEqual([])
    await leave()
  })

  test('an SMTP login is created, its password copied, restricted, and deleted by typing its name', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const name = `shop-${language.toLowerCase()}`
    await open(page, '/smtp')
    await page.getByRole('button', { name: labels.access.newLogin }).first().click()
    await page.getByRole('textbox', { name: labels.access.login }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create }).click()
    const secret = page.getByRole('dialog').getByText(labels.account.password, { exact: true }).locator('..')
    const shown = await secret.locator('pre').innerText()
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    // The button says so for less than two seconds.
    await Promise.all([
      page.getByRole('button', { name: `${labels.ui.copied}: ${name}` }).waitFor(),
      page.getByRole('button', { name: `${labels.access.copyPassword}: ${name}` }).click(),
    ])
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown)

    await page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', name) }).click()
    await page.getByRole('menuitem', { name: labels.ui.delete }).click()
    const remove = page.getByRole('dialog').getByRole('button', { name: labels.ui.delete })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByRole('dialog').getByRole('textbox').fill(name)
    await remove.click()
    await page.getByText(name, { exact: true }).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await leave()
  })

  test('an app gets a plan and a switch with release notes', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    const app = `app-${language.toLowerCase()}`
    await open(page, '/apps')
    await page.getByRole('button', { name: labels.subs.newApp }).first().click()
    await page.getByRole('textbox', { name: labels.subs.name }).fill(`Shop ${language}`)
    await page.getByRole('textbox', { name: labels.subs.appKey }).fill(app)
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create, exact: true }).click()
    await page.getByText(labels.subs.appSecret).waitFor()
    await page.getByRole('button', { name: labels.ui.secretKept }).click()

    await open(page, `/apps/${app}/plans`)
    await page.getByRole('button', { name: labels.subs.newPlan }).first().click()
    await page.getByRole('textbox', { name: labels.subs.name }).fill('Gold')
    await page.getByRole('textbox', { name: labels.subs.price, exact: true }).fill('19.9')
    await page.getByRole('textbox', { name: labels.subs.features }).fill('Fast, safe\nQuiet')
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create, exact: true }).click()
    await page.getByRole('cell', { name: '¥19.90' }).waitFor()

    await open(page, `/apps/${app}/switches`)
    await page.getByRole('link', { name: labels.subs.newSwitch }).first().click()
    await page.getByRole('textbox', { name: labels.subs.name }).fill('new_checkout')
    await page.getByRole('button', { name: labels.subs.addNote }).click()
    await page.getByRole('textbox', { name: labels.subs.version, exact: true }).fill('1.2.0')
    await page.getByRole('textbox', { name: labels.subs.noteLists.features }).fill('A quicker checkout')
    await page.locator('#content form').getByRole('button', { name: labels.ui.create, exact: true }).click()
    await page.getByRole('cell', { name: 'new_checkout', exact: true }).waitFor()
    expect(complaints).toEqual([])
    await leave()
  })

  test('language and time zone are kept after a reload', async () => {
    const { page, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/settings')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: labels.account.settingsTitle }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe(language)
    await leave()
  })
})

test('another user has no access to data of the first one, not even by address, nor to the admin pages', async () => {
  const other = await giveUser(service.mongo.db, { username: 'other' })
  await giveDomain(service.mongo.db, other._id, 'other.example.com')
  const { page, leave } = await signedIn(browser, service.url, { username: 'other', password: PASSWORD })
  await open(page, '/domains')
  await page.getByRole('link', { name: 'other.example.com' }).waitFor()
  expect(await page.getByText('sandbox.mail.example.com').count()).toBe(0)
  await open(page, '/domains/sandbox.mail.example.com')
  await page.getByRole('alert').getByText(catalogues.en.ui.goneTitle).waitFor()
  await open(page, '/admin/users')
  await page.getByRole('alert').getByText(catalogues.en.ui.forbiddenTitle).waitFor()
  expect(await page.getByRole('link', { name: catalogues.en.nav.queues }).count()).toBe(0)
  await open(page, '/messages')
  await page.getByText(catalogues.en.messages.none).waitFor()
  await leave()
})

test('a session that expires while the panel is open leads to sign-in and back to the same page', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/tokens')
  await page.context().clearCookies()
  // Without a mouse: the link's page is loaded ahead when it is pointed at, which ends the session before the click.
  await page.getByRole('link', { name: catalogues.en.nav.smtp }).dispatchEvent('click')
  await page.waitForURL(/\/sign-in\?to=/)
  await signIn(page, service.admin)
  await page.waitForURL('**/smtp')
  await leave()
})

test('loaded data stays visible while the service is unreachable, with a note', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/domains')
  await page.context().setOffline(true)
  await page.getByText(catalogues.en.ui.offlineBanner).waitFor()
  expect(await page.getByRole('link', { name: 'sandbox.mail.example.com' }).isVisible()).toBe(true)
  await page.getByRole('link', { name: catalogues.en.nav.domains, exact: true }).focus()
  await page.context().setOffline(false)
  await page.getByText(catalogues.en.ui.offlineBanner).waitFor({ state: 'detached' })
  await leave()
})

test('sign-in and a new domain need no mouse', async () => {
  const { page, leave } = await browser.visit(service.url)
  await page.goto('/sign-in')
  await page.locator('input[autocomplete=username]:focus').waitFor()
  await page.keyboard.type(service.admin.username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(service.admin.password)
  await page.keyboard.press('Enter')
  await page.locator('#content').waitFor()
  await open(page, '/domains')
  const focused = () => page.evaluate<string>("document.activeElement?.textContent ?? ''")
  for (let presses = 0; presses < 60 && (await focused()) !== catalogues.en.domains.add; presses++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  // A dialog takes the focus a moment after it is there.
  await page.getByRole('dialog').locator('input:focus').waitFor()
  await page.keyboard.type('keyboard.example.com')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/domains/keyboard.example.com')
  await leave()
})

test('a dialog traps the focus while it is open, and restores it', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/tokens')
  const button = page.getByRole('button', { name: catalogues.en.access.newToken }).first()
  await button.focus()
  await page.keyboard.press('Enter')
  // A dialog takes the focus a moment after it is there.
  await page.getByRole('dialog').locator(':focus').waitFor()
  const inside = () => page.evaluate<boolean>("document.activeElement?.closest('[role=dialog]') !== null")
  for (let presses = 0; presses < 25; presses++) {
    await page.keyboard.press('Tab')
    expect(await inside()).toBe(true)
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect
    .poll(() => page.evaluate("document.activeElement?.textContent ?? ''"), { timeout: 30_000 })
    .toBe(catalogues.en.access.newToken)
  await leave()
})

test('on a phone the menu opens, navigates and closes', async () => {
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { width: 390, height: 800 })
  await open(page, '/')
  const link = page.getByRole('link', { name: catalogues.en.nav.domains, exact: true })
  expect(await link.isVisible()).toBe(false)
  await page.getByRole('button', { name: catalogues.en.ui.openMenu }).click()
  await link.click()
  await page.waitForURL('**/domains')
  await link.waitFor({ state: 'hidden' })
  await page.getByRole('heading', { level: 1, name: catalogues.en.domains.title }).waitFor()
  expect(complaints).toEqual([])
  await leave()
})

test('the first focusable element skips the menu', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/domains')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement?.textContent ?? ''")).toBe(catalogues.en.ui.skip)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement?.closest('main') !== null")).toBe(true)
  await leave()
})
