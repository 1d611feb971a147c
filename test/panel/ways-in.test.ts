/** Ways into the panel and back into it, as users go them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf, stepAt } from '../../services/accounts/rules/totp.ts'
import { LANGUAGES } from '../../services/panel/state/preferences.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { until } from '../support/time/until.ts'
import { linkInMail } from './support/account-mail.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn, signIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const { account: labels, security } = catalogues.en

test('a user confirms an address, forgets the password, and gets in again with the link', async () => {
  await giveUser(service.mongo.db, { username: 'ann' })
  const reader = await signedIn(browser, service.url, { username: 'ann', password: PASSWORD })
  const { page } = reader
  await open(page, '/settings')
  await page.getByText(security.noEmail).waitFor()
  const form = page.locator('form', { has: page.getByLabel(security.email) })
  await form.getByLabel(security.email).fill('ann@example.org')
  await form.getByLabel(labels.currentPassword, { exact: true }).fill(PASSWORD)
  await form.getByRole('button', { name: security.changeEmail }).click()
  await page.getByText(security.confirmationSent.replace('{{email}}', 'ann@example.org')).waitFor()
  await page.goto(await linkInMail(service, 'ann@example.org'))
  await page.getByRole('button', { name: security.confirm }).click()
  await page.getByText(security.confirmed).waitFor()
  expect(page.url()).toBe(`${service.url}/confirm-email`)
  await page.getByRole('link', { name: security.toPanel }).click()
  await open(page, '/settings')
  await page.getByText(security.hasEmail.replace('{{email}}', 'ann@example.org')).waitFor()
  await picture(page, 'settings', 'email-and-sessions')

  const visitor = await browser.visit(service.url)
  await visitor.page.goto('/')
  await visitor.page.getByRole('link', { name: security.forgot }).click()
  await visitor.page.getByLabel(security.nameOrEmail).fill('Ann@example.org')
  await visitor.page.getByRole('button', { name: security.sendLink }).click()
  await visitor.page.getByText(security.forgotSent).waitFor()
  await visitor.page.goto(await linkInMail(service, 'ann@example.org'))
  await visitor.page.getByRole('textbox', { name: labels.newPassword }).fill('short')
  await visitor.page.getByRole('button', { name: security.reset }).click()
  await visitor.page.getByRole('alert').waitFor()
  await picture(visitor.page, 'reset-password', 'short')
  await visitor.page.getByRole('textbox', { name: labels.newPassword }).fill('a better password')
  await visitor.page.getByRole('button', { name: security.reset }).click()
  await visitor.page.getByText(security.resetDone).waitFor()
  await visitor.page.getByRole('link', { name: security.backToSignIn }).click()
  await signIn(visitor.page, { username: 'ann', password: 'a better password' })
  expect(visitor.complaints.filter(text => !text.includes('422'))).toEqual([])
  await visitor.leave()
  await page.reload()
  await page.getByRole('button', { name: labels.signIn, exact: true }).waitFor()
  await reader.leave()
})

test('a link without its token offers no form to submit', async () => {
  const { page, leave } = await browser.visit(service.url)
  await page.goto('/reset-password#shortened')
  await page.getByText(security.noToken).waitFor()
  expect(await page.getByRole('button', { name: security.reset }).isDisabled()).toBe(true)
  await leave()
})

test('a user sees the own sessions and ends one of them', async () => {
  const login = { username: 'bob', password: PASSWORD }
  await giveUser(service.mongo.db, { username: 'bob' })
  const [here, there] = [await signedIn(browser, service.url, login), await signedIn(browser, service.url, login)]
  await open(here.page, '/settings')
  const rows = here.page.getByRole('region', { name: security.sessions }).getByRole('row')
  await rows.nth(2).waitFor()
  expect(await rows.count()).toBe(3)
  await rows.filter({ hasText: security.thisSession }).getByText('Chrome').waitFor()
  await here.page.getByRole('button', { name: security.endSession.replace('{{name}}', '') }).click()
  await here.page.getByText(security.sessionEnded).waitFor()
  await rows.nth(2).waitFor({ state: 'detached' })
  await there.page.reload()
  await there.page.getByRole('button', { name: labels.signIn, exact: true }).waitFor()
  await Promise.all([here.leave(), there.leave()])
})

test('an invited person chooses name and password, and is in', async () => {
  const admin = await signedIn(browser, service.url, service.admin)
  await open(admin.page, '/admin/users')
  await admin.page.getByText(security.noInvitations).waitFor()
  await admin.page.getByRole('button', { name: security.invite }).click()
  const dialog = admin.page.getByRole('dialog')
  await dialog.getByLabel(security.email).fill('carol@example.org')
  await dialog.getByRole('button', { name: security.invite }).click()
  await admin.page.getByRole('cell', { name: 'carol@example.org', exact: true }).waitFor()
  await picture(admin.page, 'admin-users', 'invitations')
  const guest = await browser.visit(service.url)
  await guest.page.goto(await linkInMail(service, 'carol@example.org'))
  await guest.page.getByText('carol@example.org').waitFor()
  await guest.page.getByLabel(labels.username).fill('carol')
  await guest.page.getByRole('textbox', { name: labels.password }).fill('chosen password')
  await guest.page.getByRole('button', { name: security.createAccount }).click()
  await guest.page.locator('#content').waitFor()
  await guest.page.getByRole('button', { name: 'carol' }).waitFor()
  expect(guest.complaints).toEqual([])
  await open(admin.page, '/admin/users')
  await admin.page.getByText(security.noInvitations).waitFor()
  await admin.page.getByRole('cell', { name: 'carol', exact: true }).waitFor()
  await Promise.all([admin.leave(), guest.leave()])
})

test('a user sets up a second factor, signs in with code and recovery code, and turns it off', async () => {
  const login = { username: 'dora', password: PASSWORD }
  await giveUser(service.mongo.db, { username: 'dora' })
  const reader = await signedIn(browser, service.url, login)
  const { page } = reader
  await open(page, '/settings')
  await page.getByText(security.factorOff).waitFor()
  await page.getByRole('button', { name: security.setUp }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: labels.currentPassword }).fill(PASSWORD)
  await dialog.getByRole('button', { name: security.setUp }).click()
  await dialog.getByRole('img', { name: security.qrCode }).waitFor()
  await picture(page, 'settings', 'second-factor')
  const secret = /[A-Z2-7]{32}/.exec((await dialog.textContent()) ?? '')?.[0] ?? ''
  // The code of the previous step counts until the present step ends; in its first half, 15 s are left at least.
  await until(() => Date.now() % STEP_MS < STEP_MS / 2, STEP_MS)
  await dialog.getByRole('textbox', { name: security.code }).fill(authenticatorCode(secret, -1))
  await dialog.getByRole('button', { name: security.turnOn }).click()
  await page.getByText(security.recoveryLead).waitFor()
  const recovery =
    /[2-9a-z]{4}(?:-[2-9a-z]{4}){3}/.exec((await page.getByRole('dialog').textContent()) ?? '')?.[0] ?? ''
  await page.getByRole('button', { name: catalogues.en.ui.secretKept }).click()
  await page.getByText(security.factorOn).waitFor()

  // Computed when it is entered: it counts for less than a minute.
  for (const code of [() => authenticatorCode(secret, 0), () => recovery]) {
    const visitor = await browser.visit(service.url)
    await visitor.page.goto('/settings')
    await visitor.page.getByLabel(labels.username).fill('dora')
    await visitor.page.getByRole('textbox', { name: labels.password }).fill(PASSWORD)
    await visitor.page.getByRole('button', { name: labels.signIn, exact: true }).click()
    await visitor.page.getByRole('textbox', { name: security.code }).fill('000000')
    await visitor.page.getByRole('button', { name: labels.signIn, exact: true }).click()
    await visitor.page.getByRole('alert').waitFor()
    await visitor.page.getByRole('textbox', { name: security.code }).fill(code())
    await visitor.page.getByRole('button', { name: labels.signIn, exact: true }).click()
    await visitor.page.getByText(security.factorOn).waitFor()
    await visitor.leave()
  }
  await page.reload()
  await page.getByText(/9 recovery codes are left/).waitFor()
  await page.getByRole('button', { name: security.turnOff }).click()
  await dialog.getByRole('textbox', { name: labels.currentPassword }).fill(PASSWORD)
  await dialog.getByRole('textbox', { name: security.code }).fill(authenticatorCode(secret, 1))
  await dialog.getByRole('button', { name: security.turnOff }).click()
  await page.getByText(security.factorOff).waitFor()
  await reader.leave()
})

const STEP_MS = 30_000

/** The code that an authenticator app shows `ahead` steps from now. */
function authenticatorCode(secret: string, ahead: number): string {
  const digits = [...secret].map(char => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
  const bytes = digits.join('').match(/.{8}/g) ?? []
  return codeOf(Buffer.from(bytes.map(byte => Number.parseInt(byte, 2))), stepAt(Date.now()) + ahead)
}

test('the panel follows the browser until the user chooses a language', async () => {
  const login = { username: 'polyglot', password: PASSWORD }
  await giveUser(service.mongo.db, { username: login.username })
  const languageIn = async (language: 'en' | 'zh-CN') => {
    const visitor = await browser.visit(service.url, { language })
    await visitor.page.goto('/')
    await signIn(visitor.page, login)
    await visitor.page.getByRole('heading', { level: 1 }).first().waitFor()
    return { ...visitor, shown: await visitor.page.locator('html').getAttribute('lang') }
  }
  const english = await languageIn('en')
  expect(english.shown).toBe('en')
  await english.leave()
  const chinese = await languageIn('zh-CN')
  expect(chinese.shown).toBe('zh-CN')
  await chinese.page.reload()
  await chinese.page.getByRole('heading', { level: 1, name: catalogues['zh-CN'].start.title }).waitFor()
  // Chosen once, it counts in every browser.
  await chinese.page.getByRole('button', { name: catalogues['zh-CN'].ui.language }).click()
  const saved = chinese.page.waitForResponse(response => response.request().method() === 'PATCH')
  await chinese.page.getByRole('menuitem', { name: LANGUAGES.en }).click()
  expect((await saved).status()).toBe(200)
  await chinese.leave()
  const another = await languageIn('zh-CN')
  expect(another.shown).toBe('en')
  await another.leave()
})
