/** Typed work and secrets are not lost by a stray key, click or navigation, and nothing is sent twice. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credentials } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { MESSAGES } from '../../services/mail/store/messages.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { createSecrets } from '../../services/platform/security/secrets.ts'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const SENDER = 'hello@sandbox.mail.example.com'

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
  const texts = language === 'en' ? english : chinese.texts
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
  })
  afterAll(() => visitor?.leave())

  const question = () => page.getByRole('dialog', { name: labels.ui.unsavedTitle })
  const answer = (name: string) => question().getByRole('button', { name, exact: true }).click()
  const entry = (label: string) =>
    page.getByRole('navigation', { name: labels.ui.menu }).getByRole('link', { name: label, exact: true })
  const path = () => new URL(page.url()).pathname

  test('a dialog with input asks before Esc or × closes it; an untouched one does not', async () => {
    await open(page, '/tokens')
    const form = page.getByRole('dialog', { name: labels.access.newToken })
    const name = form.getByRole('textbox', { name: labels.access.name })
    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    await name.waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    await name.fill('backend')
    await page.keyboard.press('Escape')
    await question().waitFor()
    await picture(page, 'unsaved-question', language)
    // Esc on the question keeps the input. The question takes the focus a moment after it is there.
    await question().locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await question().waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('backend')
    await form.getByRole('button', { name: labels.ui.closeDialog }).click()
    await answer(labels.ui.keepEditing)
    expect(await name.inputValue()).toBe('backend')
    await page.mouse.click(3, 3)
    expect(await name.inputValue()).toBe('backend')
    await form.getByRole('button', { name: labels.ui.closeDialog }).click()
    await answer(labels.ui.discard)
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    expect(await name.inputValue()).toBe('')
    await form.getByRole('button', { name: labels.ui.cancel }).click()
  })

  test('an editor asks before the menu, the back button, a reload or signing out loses its input', async () => {
    await open(page, '/domains')
    await entry(labels.nav.messages).click()
    await page.waitForURL('**/messages')
    await page.getByRole('link', { name: labels.messages.sendTest }).first().click()
    await page.waitForURL('**/send')
    const subject = page.getByRole('textbox', { name: labels.messages.subject })
    await subject.fill('Typed with care')
    await entry(labels.nav.domains).click()
    await question().waitFor()
    await answer(labels.ui.keepEditing)
    expect([path(), await subject.inputValue()]).toEqual(['/send', 'Typed with care'])

    await page.evaluate('history.back()')
    await question().waitFor()
    await answer(labels.ui.keepEditing)
    // The router goes forward again after the answer.
    await page.waitForURL('**/send')
    expect(await subject.inputValue()).toBe('Typed with care')

    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    const native = await asked
    expect(native.type()).toBe('beforeunload')
    await native.dismiss()
    expect(await subject.inputValue()).toBe('Typed with care')

    await page.getByRole('button', { name: service.admin.username }).click()
    await page.getByRole('menuitem', { name: labels.nav.signOut }).click()
    await answer(labels.ui.keepEditing)
    expect(await subject.inputValue()).toBe('Typed with care')

    await entry(labels.nav.domains).click()
    await answer(labels.ui.discard)
    await page.waitForURL('**/domains')
  })

  test('a double click sends one message, and saved input is left without a question', async () => {
    await open(page, '/send')
    const sent: string[] = []
    await page.route('**/api/v1/emails', async route => {
      sent.push(route.request().method())
      await route.continue()
    })
    await page.getByRole('textbox', { name: labels.messages.from }).fill(SENDER)
    await page.getByRole('textbox', { name: labels.messages.to }).fill('you@example.org')
    await page.getByRole('textbox', { name: labels.messages.subject }).fill(`Once ${language}`)
    // Both clicks in one task: before anything is rendered in between.
    await page
      .getByRole('button', { name: labels.messages.sendAction })
      .evaluate((button: { click: () => void }) => [button.click(), button.click()])
    await page.getByRole('link', { name: labels.messages.view }).waitFor()
    await page.unroute('**/api/v1/emails')
    expect(sent.filter(method => method === 'POST')).toEqual(['POST'])
    await entry(labels.nav.domains).click()
    await page.waitForURL('**/domains')
    expect(await question().count()).toBe(0)
  })

  test('a secret is closed by its button only, and names what a mail program asks for', async () => {
    await open(page, '/smtp')
    const username = `once-${language.toLowerCase()}`
    await page.getByRole('button', { name: labels.access.newLogin }).first().click()
    await page.getByRole('textbox', { name: labels.access.login }).fill(username)
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create }).click()
    const secret = page.getByRole('dialog', { name: labels.access.loginMade })
    await secret.getByText('mail.example.com', { exact: true }).waitFor()
    await secret.getByText(labels.access.portWithSecurity.replace('{{security}}', labels.access.mode.tls)).waitFor()
    await secret.getByText('465', { exact: true }).waitFor()
    await secret.getByText(username, { exact: true }).waitFor()
    for (const [tab, part] of [
      ['curl', "'smtp://mail.example.com:"],
      ['node', "from 'nodemailer'"],
      ['python', 'smtplib'],
      ['smtp', 'swaks'],
    ] as const) {
      await secret.getByRole('tab', { name: labels.start.tab[tab], exact: true }).click()
      const example = secret.getByRole('tabpanel').locator('pre')
      await example.filter({ hasText: username }).filter({ hasText: 'mail.example.com' }).waitFor()
      await example.filter({ hasText: SENDER }).filter({ hasText: part }).waitFor()
      expect(await example.innerText()).not.toMatch(/YOUR_|\{\{|http/)
    }
    await picture(page, 'smtp-login-made', language)
    await page.keyboard.press('Escape')
    await page.mouse.click(3, 3)
    await secret.waitFor()
    expect(await secret.getByRole('button', { name: labels.ui.closeDialog }).count()).toBe(0)
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    await (await asked).dismiss()
    await secret.getByText(username, { exact: true }).waitFor()
    await secret.getByRole('button', { name: labels.ui.secretKept }).click()
    await secret.waitFor({ state: 'detached' })
  })

  test('an SMTP login gets a password of choice; one that cannot be read any more says what to do', async () => {
    const username = `choice-${language.toLowerCase()}`
    const sender = 'shop@sandbox.mail.example.com'
    await ask(page, 'POST', '/api/v1/smtp-credentials', { username, allowed_senders: [sender] })
    await open(page, '/smtp')
    const menu = page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', username) })
    await menu.click()
    await page.getByRole('menuitem', { name: labels.access.newPassword }).click()
    const form = page.getByRole('dialog')
    const password = form.getByRole('textbox', { name: labels.account.password })
    await password.fill('short')
    await form.getByRole('button', { name: labels.access.newPassword }).click()
    await form.getByRole('alert').waitFor()
    await password.fill('a password of my own choice')
    await form.getByRole('button', { name: labels.access.newPassword }).click()
    await page.getByText('a password of my own choice', { exact: true }).waitFor()
    const example = page.getByRole('tabpanel').locator('pre')
    await example.filter({ hasText: 'a password of my own choice' }).filter({ hasText: sender }).waitFor()
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])

    const logins = collectionOf(service.mongo.db, credentials)
    const stored = await logins.findOne({ username })
    const lost = createSecrets('the secret of an earlier start, of 32 bytes')
    const sealed = lost.seal('smtp-password', `credentials/${stored?._id}`, 'a password of my own choice')
    // The page still offers to copy it: the secret was lost after the list was read.
    await logins.updateOne({ username }, { $set: { password_sealed: sealed } })
    await page.getByRole('button', { name: `${labels.access.copyPassword}: ${username}` }).click()
    await page.getByRole('alert').getByText(texts['detail.password_lost'].slice(0, 20)).waitFor()
    expect(visitor.complaints.splice(0).filter(text => !text.includes('409'))).toEqual([])
  })

  test('a sender of another domain is refused at its field', async () => {
    await open(page, '/smtp')
    await page.getByRole('button', { name: labels.access.newLogin }).first().click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: labels.access.login }).fill('foreign')
    const senders = form.getByRole('textbox', { name: labels.access.senders })
    await senders.fill('@sandbox.mail.example.com\n@nowhere.example')
    await form.getByRole('button', { name: labels.ui.create }).click()
    await senders.and(page.locator('[aria-invalid=true]')).waitFor()
    await form.getByText(texts['field.own_domain'].replace('{name}', 'nowhere.example')).waitFor()
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])
    await form.getByRole('button', { name: labels.ui.cancel }).click()
  })

  test.each([
    ['https://', '/'],
    ['hello@', ''],
  ])('a domain pasted as %sdomain%s is added as a domain', async (before, after) => {
    const domain = `${before.length}-${language.toLowerCase()}.example`
    await open(page, '/domains')
    await page.getByRole('button', { name: labels.domains.add }).first().click()
    const name = page.getByRole('dialog').getByRole('textbox', { name: labels.domains.name })
    await name.fill(`${before}${domain}${after}`)
    await page.keyboard.press('Tab')
    expect(await name.inputValue()).toBe(domain)
    await name.fill(`${before}${domain}${after}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/domains/${domain}`)
  })

  test('a message is sent again to those that failed, unless all are chosen, and links to the copy', async () => {
    const subject = `Again ${language}`
    const to = ['ada@example.org', 'lin@example.org', 'joan@example.org']
    const { id } = (await ask(page, 'POST', '/api/v1/emails', { from: SENDER, to, subject, text: 'Hi' })) as {
      id: string
    }
    await expect
      .poll(async () => ((await ask(page, 'GET', `/api/v1/emails/${id}`)) as { status: string }).status, {
        timeout: 60_000,
      })
      .toBe('delivered')
    const bounced = { 'rcpts.0.status': 'bounced', 'rcpts.1.status': 'failed' }
    await collectionOf(service.mongo.db, MESSAGES).updateOne({ _id: id }, { $set: bounced })
    const copies: unknown[] = []
    await page.route('**/resend', async route => {
      copies.push(route.request().postDataJSON())
      await route.continue()
    })
    await open(page, `/messages/${id}`)
    const again = async () => {
      await page.getByRole('button', { name: labels.messages.resend, exact: true }).click()
      expect(copies).toEqual([])
      return page.getByRole('dialog', { name: labels.messages.resendTitle })
    }
    const form = await again()
    const count = (text: string, number: number) => text.replace('{{count}}', String(number))
    const failed = form.getByRole('radio', { name: count(labels.messages.resendFailed_other, 2) })
    await form.getByRole('radio', { name: count(labels.messages.resendAll_other, 3) }).waitFor()
    expect(await failed.isChecked()).toBe(true)
    await picture(page, 'send-again', language)
    await form
      .getByRole('button', { name: count(labels.messages.resendAction_other, 2) })
      .evaluate((button: { click: () => void }) => [button.click(), button.click()])
    const link = form.getByRole('link', { name: labels.messages.view })
    await link.waitFor()
    expect(copies.splice(0)).toEqual([{ to: 'failed' }])
    await link.click()
    await page.waitForURL(address => address.pathname.startsWith('/messages/') && !address.pathname.endsWith(id))
    // The page of the original has both, and is shown until that of the copy is there.
    const delivered = page.getByRole('heading', { name: 'joan@example.org' })
    await delivered.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'ada@example.org' }).waitFor()
    expect(await delivered.count()).toBe(0)

    await open(page, `/messages/${id}`)
    await again()
    await form.getByRole('radio', { name: count(labels.messages.resendAll_other, 3) }).check()
    await form.getByText(labels.messages.resendTwice).waitFor()
    await form.getByRole('button', { name: count(labels.messages.resendAction_other, 3) }).click()
    await link.waitFor()
    expect(copies).toEqual([{ to: 'all' }])
    await page.unroute('**/resend')
    expect(visitor.complaints).toEqual([])
  })
})
