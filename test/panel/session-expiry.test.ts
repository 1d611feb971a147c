/** A session that ends below a form: nothing typed is lost, and nobody else gets to see it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { open, signedIn, words } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  await giveUser(service.mongo.db, { username: 'other' })
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const w = words.en

/** Somebody with a form for a token half filled in. */
async function inForm(): Promise<Visitor> {
  const visitor = await signedIn(browser, service.url, service.admin)
  await open(visitor.page, '/tokens')
  await visitor.page.getByRole('button', { name: w.access.newToken }).first().click()
  await visitor.page.getByRole('textbox', { name: w.access.name }).fill('nightly report')
  return visitor
}

const again = ({ page }: Visitor) => page.getByRole('dialog', { name: w.account.signIn })
const form = ({ page }: Visitor) => page.getByRole('dialog', { name: w.access.newToken, exact: true })

/** The session ends, and the form is sent. */
async function sendWithoutSession(visitor: Visitor): Promise<void> {
  await visitor.page.context().clearCookies()
  await form(visitor).getByRole('button', { name: w.ui.create }).click()
  await again(visitor).getByText(w.account.sessionEndedHere).waitFor()
}

async function enter(visitor: Visitor, password: string, username?: string): Promise<void> {
  if (username) await again(visitor).getByLabel(w.account.username).fill(username)
  await again(visitor).getByRole('textbox', { name: w.account.password }).fill(password)
  await again(visitor).getByRole('button', { name: w.account.signIn, exact: true }).click()
}

test('what was typed is there after signing in above it, and is sent', async () => {
  const reader = await inForm()
  await sendWithoutSession(reader)
  expect(await again(reader).getByLabel(w.account.username).inputValue()).toBe(service.admin.username)
  await again(reader).locator('input[type=password]:focus').waitFor()
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: w.access.name }).inputValue()).toBe('nightly report')
  await form(reader).getByRole('button', { name: w.ui.create }).click()
  await reader.page.getByRole('button', { name: w.ui.secretKept }).click()
  await reader.page.getByRole('cell', { name: 'nightly report', exact: true }).waitFor()
  expect(reader.complaints.filter(text => !text.includes('401'))).toEqual([])
  await reader.leave()
})

test('a wrong password is said, and Escape throws nothing away', async () => {
  const reader = await inForm()
  await sendWithoutSession(reader)
  await enter(reader, 'not it')
  await again(reader).getByRole('alert').getByText(w.problems.invalid_login).waitFor()
  await reader.page.keyboard.press('Escape')
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: w.access.name }).inputValue()).toBe('nightly report')
  await reader.page.keyboard.press('Escape')
  await form(reader).waitFor({ state: 'detached' })
  await reader.leave()
})

test('somebody else who signs in begins anew and sees nothing of it', async () => {
  const reader = await inForm()
  await sendWithoutSession(reader)
  await enter(reader, PASSWORD, 'other')
  await reader.page.waitForURL(`${service.url}/`)
  await reader.page.getByRole('button', { name: 'other' }).waitFor()
  expect(await reader.page.getByRole('dialog').count()).toBe(0)
  expect(await reader.page.getByText('nightly report').count()).toBe(0)
  await reader.leave()
})

test('a look in the background that finds the session ended takes the form from nobody', async () => {
  const reader = await inForm()
  await reader.page.context().clearCookies()
  // Whoever comes back to the tab after a while looks again at what he sees.
  await reader.page.clock.install()
  await reader.page.clock.fastForward(60_000)
  await reader.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: w.access.name }).inputValue()).toBe('nightly report')
  await reader.leave()
})

test('a message that is half written survives as well, and is sent', async () => {
  const reader = await signedIn(browser, service.url, service.admin)
  const { page } = reader
  await open(page, '/send')
  const subject = page.getByRole('textbox', { name: w.messages.subject })
  await subject.fill('Written before the end')
  await page.context().clearCookies()
  const sending = page.getByRole('button', { name: w.messages.sendAction })
  await sending.click()
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await subject.inputValue()).toBe('Written before the end')
  await page.getByRole('textbox', { name: w.messages.from }).fill('hello@sandbox.mail.example.com')
  await page.getByRole('textbox', { name: w.messages.to, exact: true }).fill('you@example.org')
  await sending.click()
  await page.getByText(w.messages.sentHint).waitFor()
  await reader.leave()
})
