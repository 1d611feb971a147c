/** Ways into the panel without a password: a login provider, and passkeys of Chromium's virtual authenticator. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLoginLimiter } from '../../services/accounts/login-limiter.ts'
import { codeOf, stepAt } from '../../services/accounts/rules/totp.ts'
import { confirmFactor, startFactor } from '../../services/accounts/second-factor.ts'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { type LoginProvider, startLoginProvider } from '../support/accounts/login-provider.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { builtPanel } from './support/built-panel.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let provider: LoginProvider
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  // Before the port is chosen, so that it is in use soon.
  await builtPanel()
  const port = await freePort()
  // Passkeys need a host name.
  const url = `http://localhost:${port}`
  provider = await startLoginProvider(`${url}/oidc-callback`)
  ;[service, browser] = await Promise.all([
    startPanelService({
      APP_PORT: String(port),
      APP_BASE_URL: url,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: 'Example Inc.',
      OIDC_CREATE_ACCOUNTS: 'true',
    }),
    startBrowser(),
  ])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
  await provider?.stop()
})

const { account: labels, security, ways } = catalogues.en
const fill = (text: string, name: string) => text.replace('{{name}}', name)

test('a person logs in at the provider and lands where they wanted to go', async () => {
  provider.person = { sub: 'eva', email: 'eva@example.org', email_verified: true, preferred_username: 'Eva' }
  const { page, complaints, leave } = await browser.visit(service.url)
  await page.goto('/settings')
  await page.getByRole('button', { name: fill(ways.with, 'Example Inc.') }).waitFor()
  await picture(page, 'sign-in', 'ways')
  await page.getByRole('button', { name: fill(ways.with, 'Example Inc.') }).click()
  await page.getByRole('button', { name: 'Log in here' }).click()
  await page.getByRole('heading', { name: labels.settingsTitle }).waitFor()
  expect(page.url()).toBe(`${service.url}/settings`)
  await page.getByText(fill(labels.settingsLead, 'eva')).waitFor()
  const row = page.getByRole('region', { name: security.sessions }).getByRole('row').nth(1)
  await row.getByText(ways.methods.oidc).waitFor()
  expect(await findUserByName(service.mongo.db, 'eva')).toMatchObject({ email: 'eva@example.org', tz: 'Europe/Berlin' })
  // The provider's page has no icon.
  expect(complaints.filter(text => !text.includes(provider.issuer))).toEqual([])
  await leave()
})

test('an account with a second factor is asked for its code on the way back', async () => {
  const user = await giveUser(service.mongo.db, { username: 'fred', email: 'fred@example.org' })
  const { foundation } = service
  const limits = { db: foundation.mongo.db, metrics: foundation.metrics }
  const limiter = createLoginLimiter({ ...limits, channel: 'panel' })
  const deps = { ...foundation, limiter, codes: createLoginLimiter({ ...limits, channel: 'second-factor' }) }
  const { secret } = await startFactor(deps, { userId: user._id, password: PASSWORD, ip: '127.0.0.1' })
  const codeIn = (steps: number) => codeOf(bytesOf(secret), stepAt(Date.now()) + steps)
  await confirmFactor(deps, { userId: user._id, sessionId: undefined, code: codeIn(-1) })

  provider.person = { sub: 'fred', email: 'fred@example.org', email_verified: true }
  const { page, leave } = await browser.visit(service.url)
  await page.goto('/domains')
  await page.getByRole('button', { name: fill(ways.with, 'Example Inc.') }).click()
  await page.getByRole('button', { name: 'Log in here' }).click()
  await page.getByRole('textbox', { name: security.code }).fill(codeIn(0))
  await page.getByRole('button', { name: labels.signIn, exact: true }).click()
  await page.locator('#content').waitFor()
  expect(page.url()).toBe(`${service.url}/domains`)
  await leave()
})

test('who denies the login at the provider is told so, and can begin again', async () => {
  const { page, leave } = await browser.visit(service.url, { language: 'zh-CN' })
  const texts = catalogues['zh-CN'].ways
  await page.goto('/sign-in')
  await page.getByRole('button', { name: fill(texts.with, 'Example Inc.') }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('alert').getByText('登录服务上的登录被取消或拒绝').waitFor()
  await picture(page, 'oidc-callback', 'denied')
  expect(page.url()).toBe(`${service.url}/oidc-callback`)
  await page.getByRole('link', { name: catalogues['zh-CN'].security.backToSignIn }).click()
  await page.getByRole('button', { name: texts.withPasskey }).waitFor()
  await leave()
})

test('the page of the way back says what is missing without its query', async () => {
  const { page, leave } = await browser.visit(service.url)
  await page.goto('/oidc-callback')
  await page.getByText(ways.incomplete).waitFor()
  await leave()
})

test('a user adds a passkey, signs in with it alone, renames and removes it', async () => {
  const login = { username: 'pia', password: PASSWORD }
  await giveUser(service.mongo.db, { username: 'pia' })
  const { page, complaints, leave } = await signedIn(browser, service.url, login)
  await giveAuthenticator(page)
  await open(page, '/settings')
  await page.getByText(ways.noPasskeys).waitFor()
  await page.getByRole('button', { name: ways.add }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(ways.name).fill('Test phone')
  await dialog.getByRole('textbox', { name: labels.currentPassword }).fill('wrong password')
  await dialog.getByRole('button', { name: ways.add }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('textbox', { name: labels.currentPassword }).fill(PASSWORD)
  await dialog.getByRole('button', { name: ways.add }).click()
  await page.getByText(ways.added).waitFor()
  await page.getByRole('cell', { name: 'Test phone', exact: true }).waitFor()
  await picture(page, 'settings', 'passkeys')

  await page.context().clearCookies()
  await page.goto('/settings')
  await page.getByRole('button', { name: ways.withPasskey }).click()
  const row = page.getByRole('region', { name: security.sessions }).getByRole('row').nth(1)
  await row.getByText(ways.methods.passkey).waitFor()
  await page.getByText(fill(labels.settingsLead, 'pia')).waitFor()

  await page.getByRole('button', { name: fill(ways.renameOf, 'Test phone') }).click()
  await dialog.getByLabel(ways.name).fill('Old phone')
  await dialog.getByRole('button', { name: ways.rename }).click()
  await page.getByRole('button', { name: fill(ways.removeOf, 'Old phone') }).click()
  await dialog.getByRole('button', { name: ways.remove, exact: true }).click()
  await page.getByText(ways.noPasskeys).waitFor()

  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: ways.withPasskey }).click()
  await page.getByRole('alert').waitFor()
  expect(complaints.filter(text => !text.includes('401'))).toEqual([])
  await leave()
})

test('a device that is not there leaves the other ways open', async () => {
  const { page, leave } = await browser.visit(service.url)
  await giveAuthenticator(page, { isUserVerified: false })
  await page.goto('/sign-in')
  await page.getByRole('button', { name: ways.withPasskey }).click()
  await page.getByRole('alert').getByText(ways.canceled).waitFor()
  expect(await page.getByLabel(labels.username).isEnabled()).toBe(true)
  await leave()
})

/** Gives the page a device with passkeys, which answers at once. */
async function giveAuthenticator(page: Page, { isUserVerified = true } = {}): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
}

function bytesOf(secret: string): Buffer {
  const digits = [...secret].map(char => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
  return Buffer.from((digits.join('').match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}
