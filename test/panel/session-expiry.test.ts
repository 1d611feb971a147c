/** Sessions that expire while a form is open: input is kept, and not shown to another user. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { english } from '../../services/platform/sentences/en/index.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

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

const labels = catalogues.en

/** A user with a partly filled token form. */
async function inForm(): Promise<Visitor> {
  const visitor = await signedIn(browser, service.url, service.admin)
  await open(visitor.page, '/tokens')
  await visitor.page.getByRole('button', { name: labels.access.newToken }).first().click()
  await visitor.page.getByRole('textbox', { name: labels.access.name }).fill('nightly report')
  return visitor
}

const again = ({ page }: Visitor) => page.getByRole('dialog', { name: labels.account.signIn })
const form = ({ page }: Visitor) => page.getByRole('dialog', { name: labels.access.newToken, exact: true })

/** Ends the session and submits the form. */
async function sendWithoutSession(visitor: Visitor): Promise<void> {
  await visitor.page.context().clearCookies()
  await form(visitor).getByRole('button', { name: labels.ui.create }).click()
  await again(visitor).getByText(labels.account.sessionEndedHere).waitFor()
}

async function enter(visitor: Visitor, password: string, username?: string): Promise<void> {
  if (username) await again(visitor).getByLabel(labels.account.username).fill(username)
  await again(visitor).getByRole('textbox', { name: labels.account.password }).fill(password)
  await again(visitor).getByRole('button', { name: labels.account.signIn, exact: true }).click()
}

test('input is kept after signing in again, and is submitted', async () => {
  const reader = await inForm()
  await sendWithoutSession(reader)
  expect(await again(reader).getByLabel(labels.account.username).inputValue()).toBe(service.admin.username)
  await again(reader).locator('input[type=password]:focus').waitFor()
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: labels.access.name }).inputValue()).toBe('nightly report')
  await form(reader).getByRole('button', { name: labels.ui.create }).click()
  await reader.page.getByRole('button', { name: labels.ui.secretKept }).click()
  await reader.page.getByRole('cell', { name: 'nightly report', exact: true }).waitFor()
  expect(reader.complaints.filter(text => !text.includes('401'))).toEqual([])
  await reader.leave()
})

test('a wrong password is reported, and Escape does not discard the input', async () => {
  const reader = await inForm()
  await sendWithoutSession(reader)
  await enter(reader, 'not it')
  await again(reader).getByRole('alert').getByText(english['problem.invalid_login']).waitFor()
  await reader.page.keyboard.press('Escape')
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: labels.access.name }).inputValue()).toBe('nightly report')
  await reader.page.keyboard.press('Escape')
  await reader.page
    .getByRole('dialog', { name: labels.ui.unsavedTitle })
    .getByText(labels.ui.discard, { exact: true })
    .click()
  await form(reader).waitFor({ state: 'detached' })
  await reader.leave()
})

test('another user who signs in does not see the input', async () => {
  const reader = await inForm()
  // The browser's own question whether to leave would offer to stay with the input.
  const questions: string[] = []
  reader.page.on('dialog', question => {
    questions.push(question.type())
    void question.accept()
  })
  await sendWithoutSession(reader)
  await enter(reader, PASSWORD, 'other')
  await reader.page.waitForURL(`${service.url}/start`)
  await reader.page.getByRole('button', { name: 'other' }).waitFor()
  expect(await reader.page.getByRole('dialog').count()).toBe(0)
  expect(await reader.page.getByText('nightly report').count()).toBe(0)
  expect(questions).toEqual([])
  await reader.leave()
})

test('a background request that finds the session expired keeps the form', async () => {
  const reader = await inForm()
  await reader.page.context().clearCookies()
  // Focusing the tab fetches stale queries again.
  await reader.page.clock.install()
  await reader.page.clock.fastForward(60_000)
  await reader.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await form(reader).getByRole('textbox', { name: labels.access.name }).inputValue()).toBe('nightly report')
  await reader.leave()
})

test('a message draft is kept as well, and is submitted', async () => {
  const reader = await signedIn(browser, service.url, service.admin)
  const { page } = reader
  await open(page, '/send')
  const subject = page.getByRole('textbox', { name: labels.messages.subject })
  await subject.fill('Written before the end')
  await page.context().clearCookies()
  const sending = page.getByRole('button', { name: labels.messages.sendAction })
  await sending.click()
  await enter(reader, service.admin.password)
  await again(reader).waitFor({ state: 'detached' })
  expect(await subject.inputValue()).toBe('Written before the end')
  await page.getByRole('textbox', { name: labels.messages.from }).fill('hello@sandbox.mail.example.com')
  await page.getByRole('textbox', { name: labels.messages.to, exact: true }).fill('you@example.org')
  await sending.click()
  await page.getByText(labels.messages.sentHint).waitFor()
  await reader.leave()
})
