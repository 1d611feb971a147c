/** Limits of sending and queue control in a real browser, in both languages. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { putLimit } from '../../services/mail/limits/store/sending-limits.ts'
import { newId } from '../../services/platform/ids.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService({}), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  const site = `${language.toLowerCase()}.example`
  let visitor: Visitor
  let page: Page
  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
  })
  afterAll(async () => {
    expect(visitor.complaints).toEqual([])
    await visitor.leave()
  })

  test('an admin limits an account, and its user sees that and limits a destination', async () => {
    const username = `rated-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    await open(page, '/admin/users')
    const row = page.getByRole('row').filter({ hasText: username })
    await row.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', username) }).click()
    await page.getByRole('menuitem', { name: labels.limits.ofUser }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: labels.limits.setAccount }).click()
    await dialog.getByRole('textbox', { name: labels.limits.amount.recipients_per_second }).fill('10')
    await dialog.getByRole('button', { name: labels.ui.save }).click()
    const rate = labels.limits.perSecond.replace('{{count}}', '10').replace('{{burst}}', '10')
    await dialog.getByRole('cell', { name: rate }).waitFor()

    const reader = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    await open(reader.page, '/limits')
    await reader.page.getByRole('cell', { name: rate }).waitFor()
    await reader.page.getByRole('button', { name: labels.limits.add }).click()
    await reader.page.getByRole('menuitem', { name: labels.limits.addOf.destination }).click()
    const form = reader.page.getByRole('dialog')
    await form.getByRole('textbox', { name: labels.limits.subject.destination }).fill(site)
    await form.getByRole('textbox', { name: labels.limits.amount.recipients_per_minute }).fill('100')
    await form.getByRole('button', { name: labels.ui.save }).click()
    const added = reader.page.getByRole('row').filter({ hasText: site })
    await added.getByRole('cell', { name: labels.limits.perMinute.replace('{{count}}', '100') }).waitFor()
    await picture(reader.page, 'limits', language)
    await added.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', site) }).click()
    await reader.page.getByRole('menuitem', { name: labels.limits.remove }).click()
    await added.waitFor({ state: 'detached' })
    expect(reader.complaints).toEqual([])
    await reader.leave()
  })

  test('a limit that a resource declares shows which, and has nothing to change', async () => {
    const { db } = service.mongo
    const username = `declared-${language.toLowerCase()}`
    const user = await giveUser(db, { username })
    const resource = { kind: 'MailDomain', namespace: 'web', name: username, uid: newId('u') }
    for (const [name, change] of [
      [`declared.${site}`, { managed_by: resource, limits_declared: true }],
      [`open.${site}`, { managed_by: resource }],
    ] as const) {
      const { _id: subject } = await giveDomain(db, user._id, name, change)
      await putLimit(db, user._id, { scope: 'domain', subject, name, byAdmin: false, perHour: 9 }, new Date())
    }
    const reader = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    await open(reader.page, '/limits')
    const menus = (name: string) =>
      reader.page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', name) }).count()
    const badge = (name: string) =>
      reader.page.getByRole('row').filter({ hasText: name }).getByText(`MailDomain web/${username}`)
    await badge(`declared.${site}`).waitFor()
    expect([await menus(`declared.${site}`), await menus(`open.${site}`)]).toEqual([0, 1])
    expect(await badge(`open.${site}`).count()).toBe(0)
    expect(reader.complaints).toEqual([])
    await reader.leave()
  })

  test.each(['/admin/queues', '/messages'])('mail is held, tried now and released on %s', async path => {
    const destination = `${path.split('/').at(-1)}.${site}`
    await open(page, path)
    await page.getByRole('button', { name: labels.queue.ask.hold }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: labels.queue.scopes.destination }).fill(destination)
    await dialog.getByRole('textbox', { name: labels.queue.reason }).fill('too much')
    await dialog.getByRole('button', { name: labels.queue.ask.hold }).click()
    const rows = page.getByRole('row').filter({ hasText: destination })
    const held = rows.filter({ hasText: 'too much' })
    await held.getByText('too much').waitFor()
    await picture(page, `queue-holds${path.replaceAll('/', '-')}`, language)
    await held.getByRole('button', { name: `${labels.queue.release}: ${destination}` }).click()
    await held.getByText(labels.queue.states.ended).waitFor()

    await page.getByRole('button', { name: labels.queue.ask.retry, exact: true }).first().click()
    await dialog.getByRole('textbox', { name: labels.queue.scopes.destination }).fill(destination)
    await dialog.getByRole('button', { name: labels.queue.ask.retry }).click()
    await rows.filter({ hasText: labels.queue.ask.retry }).waitFor()
  })

  test.each(['/admin/queues', '/messages'])('canceling on %s names how many messages it is about', async path => {
    const to = `${path.split('/').at(-1)}.cancel.${site}`
    const send = { from: 'hello@sandbox.mail.example.com', subject: 'later', text: 'x', to: [`a@${to}`, `b@${to}`] }
    const scheduled_at = new Date(Date.now() + 86_400_000).toISOString()
    for (let n = 0; n < 3; n++) await ask(page, 'POST', '/api/v1/emails', { ...send, scheduled_at })
    await open(page, path)
    if (path === '/admin/queues') {
      // Scheduled mail is not retried.
      await page.getByRole('cell', { name: to, exact: true }).waitFor()
      const retry = `${labels.operator.retryNow}: ${to}`
      expect(await page.getByRole('button', { name: retry, exact: true }).count()).toBe(0)
    }
    const dialog = page.getByRole('dialog')
    const toConfirm = async (destination: string) => {
      await page.getByRole('button', { name: labels.queue.ask.cancel, exact: true }).first().click()
      await dialog.getByRole('textbox', { name: labels.queue.scopes.destination }).fill(destination)
      await dialog.getByRole('button', { name: labels.queue.continue }).click()
    }
    const messages = labels.queue.messages.exact_other.replace('{{number}}', '3')
    const question = labels.queue.confirm.destination.replace('{{messages}}', messages).replace('{{name}}', to)
    await toConfirm(to)
    await dialog.getByText(question).waitFor()
    await picture(page, `queue-cancel${path.replaceAll('/', '-')}`, language)
    await dialog.getByRole('button', { name: labels.queue.keep }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(
      await page.getByRole('row').filter({ hasText: to }).filter({ hasText: labels.queue.ask.cancel }).count(),
    ).toBe(0)

    await toConfirm(to)
    await dialog.getByText(question).waitFor()
    await dialog.getByRole('button', { name: labels.queue.ask.cancel }).click()
    const row = page.getByRole('row').filter({ hasText: to }).filter({ hasText: labels.queue.ask.cancel })
    await row.getByText(labels.queue.finished).waitFor()

    await toConfirm(to)
    await dialog.getByText(labels.queue.nothingWaits.destination.replace('{{name}}', to)).waitFor()
    await dialog.getByRole('button', { name: labels.ui.close, exact: true }).click()
  })

  test('canceling the mail of the own account names the account', async () => {
    await ask(page, 'POST', '/api/v1/emails', {
      ...{ from: 'hello@sandbox.mail.example.com', subject: 'one', text: 'x', to: `c@one.${site}` },
      scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
    })
    await open(page, '/messages')
    await page.getByRole('button', { name: labels.queue.ask.cancel, exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: labels.queue.mailOf }).click()
    await page.getByRole('option', { name: labels.queue.scopes.account }).click()
    await dialog.getByRole('button', { name: labels.queue.continue }).click()
    const messages = labels.queue.messages.exact_one.replace('{{number}}', '1')
    const question = labels.queue.confirm.account.replace('{{messages}}', messages)
    await dialog.getByText(question.replace('{{name}}', service.admin.username)).waitFor()
    await dialog.getByRole('button', { name: labels.queue.ask.cancel }).click()
    await dialog.waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: service.admin.username })
    await row.filter({ hasText: labels.queue.finished }).first().waitFor()
  })
})
