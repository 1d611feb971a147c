/** The message log, overview and palette in real Chromium: filters, selection, views, export, keyboard, widths, themes. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { DELIVERIES } from '../../services/mail/store/deliveries.ts'
import type { MessageDoc, RecipientState } from '../../services/mail/store/documents.ts'
import { MESSAGES } from '../../services/mail/store/messages.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { csvRows } from '../../services/platform/tables/rules/csv.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { giveEvent, giveMessage } from '../support/mail/stored-messages.ts'
import { until } from '../support/time/until.ts'
import { findings } from './support/accessibility-findings.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { expectFitting } from './support/overflow.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

const HOUR_MS = 3_600_000
let service: PanelService
let browser: TestBrowser
const stored: Record<string, MessageDoc> = {}

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { db } = service.mongo
  const userId = (await findUserByName(db, service.admin.username))?._id ?? ''
  const give = async (subject: string, hours: number, state: Partial<RecipientState>) => {
    const created_at = new Date(Date.now() - hours * HOUR_MS)
    const message = await giveMessage(db, userId, {
      ...{ created_at, subject, from: 'hello@shop.example', tags: [{ name: 'category', value: 'receipt' }] },
      rcpts: [
        {
          email: `${subject.toLowerCase().replaceAll(' ', '.')}@${state.status === 'bounced' ? 'unknown' : 'gone'}.example`,
          type: 'to',
          status: 'delivered',
          ...state,
        },
      ],
      ...(state.status === 'deferred' ? { left: 1 } : {}),
    })
    stored[subject] = message
    return message
  }
  for (let n = 0; n < 30; n++) await give(`Delivered ${n}`, 40 + n, { code: 250 })
  const bounced = await give('Unknown address', 5, { status: 'bounced', code: 550, enhanced: '5.1.1', kind: 'address' })
  await giveEvent(db, bounced, { type: 'bounced', code: 550, text: '550 5.1.1 no such user here' })
  for (const name of ['Waits one', 'Waits two', 'Alone']) {
    await letWait(await give(name, 3, { status: 'deferred', code: 421, kind: 'throttled' }))
  }
  // Nothing of it waits in the queue: stopping it fails.
  await give('Waits three', 3, { status: 'deferred', code: 421, kind: 'throttled' })
  await giveUser(db, { username: 'grace-hopper' })
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** Puts the message's recipient into the queue: its next attempt is in 5 hours. */
async function letWait({ _id, user_id }: MessageDoc): Promise<void> {
  const now = Date.now()
  await collectionOf(service.mongo.db, DELIVERIES).insertOne({
    ...{ _id: `${_id}.0`, m: _id, user_id, rcpt: 'a@gone.example', site: 'gone.example', slot: 0 },
    ...{ lane: 'transactional', due: new Date(now + 5 * HOUR_MS), att: 1 },
    ...{ expires_at: new Date(now + 60 * HOUR_MS), created_at: new Date(now) },
  })
}

const rows = (page: Page) => page.locator('.pw-table tbody tr')
const statusOf = async (subject: string) =>
  (await collectionOf(service.mongo.db, MESSAGES).findOne({ _id: stored[subject]?._id ?? '' }))?.rcpts[0]?.status

describe.each(['en', 'zh-CN'] as const)('the log in %s', language => {
  const { messages: labels, ui } = catalogues[language]

  test('filters are in the address, the reason is below the status, and a view keeps them', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/messages')
    await page.getByRole('combobox', { name: labels.reason }).click()
    await page.getByRole('option', { name: labels.reasons.address }).click()
    await page.waitForURL(url => url.searchParams.get('reason') === 'address')
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(await rows(page).first().innerText()).toContain(`${labels.reasons.address} · 550 5.1.1`)
    await page.getByText(labels.countedText_one.replace('{{shown}}', '1')).waitFor()
    await page.getByRole('combobox', { name: labels.period }).click()
    await page.getByRole('option', { name: labels.lastDays_other.replace('{{count}}', '7') }).click()
    await page.waitForURL(url => url.searchParams.get('days') === '7')

    await page.getByRole('button', { name: labels.views.title }).click()
    await page.getByRole('menuitem', { name: labels.views.save }).click()
    await page.getByRole('textbox', { name: labels.views.name }).fill(`Bounces ${language}`)
    await page.getByRole('dialog').getByRole('button', { name: ui.save }).click()
    await page.getByRole('button', { name: `Bounces ${language}` }).waitFor()
    await page.getByRole('button', { name: labels.clearFilters }).click()
    await page.waitForURL(url => url.search === '')
    // Another browser of the user has the view.
    const other = await signedIn(browser, service.url, service.admin, { language })
    await open(other.page, '/messages')
    await other.page.getByRole('button', { name: labels.views.title }).click()
    await other.page.getByRole('menuitem', { name: `Bounces ${language}` }).click()
    await other.page.waitForURL(
      url => url.searchParams.get('reason') === 'address' && url.searchParams.get('days') === '7',
    )
    await expect.poll(() => rows(other.page).count()).toBe(1)
    await other.page.getByRole('button', { name: `Bounces ${language}` }).click()
    await other.page
      .getByRole('menuitem', { name: labels.views.delete.replace('{{name}}', `Bounces ${language}`) })
      .click()
    await other.page.getByRole('button', { name: labels.views.title }).waitFor()
    await other.leave()
    expect(complaints).toEqual([])
    await leave()
  })

  test('several statuses are chosen together, counted, saved in a view and removed', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/messages')
    const field = page.getByRole('combobox', { name: labels.state })
    await field.click()
    await page.getByRole('option', { name: labels.status.bounced }).click()
    await page.waitForURL(url => url.searchParams.get('status') === 'bounced')
    await expect.poll(() => rows(page).count()).toBe(1)
    await page.getByRole('option', { name: labels.status.deferred }).click()
    await page.waitForURL(url => url.searchParams.get('status') === '["deferred","bounced"]')
    await expect.poll(() => rows(page).count()).toBe(5)
    await page.getByText(labels.countedText_other.replace('{{shown}}', '5')).waitFor()
    await page.keyboard.press('Escape')

    const name = `Problems ${language}`
    await page.getByRole('button', { name: labels.views.title }).click()
    await page.getByRole('menuitem', { name: labels.views.save }).click()
    await page.getByRole('textbox', { name: labels.views.name }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: ui.save }).click()
    await page.getByRole('button', { name }).waitFor()
    await page.getByRole('button', { name: labels.clearFilters }).click()
    await page.waitForURL(url => url.search === '')
    await page.getByRole('button', { name: labels.views.title }).click()
    await page.getByRole('menuitem', { name }).click()
    await expect.poll(() => rows(page).count()).toBe(5)
    await page.getByRole('button', { name }).click()
    await page.getByRole('menuitem', { name: labels.views.delete.replace('{{name}}', name) }).click()

    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: labels.export.action }).click()
    await page.getByRole('dialog').getByRole('button', { name: labels.export.download }).click()
    const exported = [...csvRows(await readFile(await (await download).path(), 'utf8'))]
    expect(exported.filter(row => row.length > 1)).toHaveLength(1 + 5)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await field.focus()
    await page.keyboard.press('Backspace')
    await page.waitForURL(url => url.searchParams.get('status') === 'deferred')
    await expect.poll(() => rows(page).count()).toBe(4)
    expect(complaints).toEqual([])
    await leave()
  })

  test('with the keyboard alone: the palette opens the log, Tab reaches a row, Enter opens it', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: catalogues[language].palette.label })
    await field.and(page.locator(':focus')).waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.type(catalogues[language].nav.messages)
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname === '/messages')
    await rows(page).first().waitFor()
    const isFocused = () => page.evaluate<boolean>("document.activeElement?.classList.contains('pw-row-link') ?? false")
    for (let n = 0; n < 80 && !(await isFocused()); n++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname.startsWith('/messages/em_'))
    expect(await page.title()).toContain('Postwright')
    // A message by its subject, a domain and a user.
    for (const [text, path] of [
      ['Unknown address', `/messages/${stored['Unknown address']?._id}`],
      ['sandbox.mail', '/domains/sandbox.mail.example.com'],
      ['grace', '/admin/users'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await field.and(page.locator(':focus')).waitFor()
      await page.keyboard.type(text)
      const option = page.getByRole('option').filter({ hasText: text })
      await option.first().waitFor()
      while ((await option.first().getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => url.pathname === path)
      expect(await page.getByRole('dialog').count()).toBe(0)
    }
    expect(complaints).toEqual([])
    await leave()
  })
})

test('selected messages are stopped together, with what fails', async () => {
  const { messages: labels, ui } = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/messages?q=Waits')
  await expect.poll(() => rows(page).count()).toBe(3)
  // A row is one link and one checkbox, none inside of the other.
  expect(await page.locator('a :is(input, button, a), button :is(input, a)').count()).toBe(0)
  await page.getByRole('checkbox', { name: labels.selectAll }).check()
  const bar = page.getByRole('region', { name: labels.selection })
  await bar.getByText(labels.selected_other.replace('{{count}}', '3')).waitFor()
  await expectFitting(page, [390, 1024, 1440])
  await bar.getByRole('button', { name: labels.bulk.cancel.title }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/3 messages with 3 waiting recipients/).waitFor()
  await dialog.getByRole('button', { name: labels.bulk.cancel.action_other.replace('{{count}}', '3') }).click()
  await dialog.getByText(/3 of 3 done · 1 failed/).waitFor()
  await dialog.getByText(/^Waits three/).waitFor()
  await expectFitting(page, [390, 1024, 1440])
  await dialog.getByRole('button', { name: ui.close, exact: true }).click()
  await bar.waitFor({ state: 'detached' })
  await until(async () => (await statusOf('Waits one')) === 'canceled' && (await statusOf('Waits two')) === 'canceled')
  expect(await statusOf('Waits three')).toBe('deferred')
  await leave()
})

test('the result of an action stays open when its messages leave the list', async () => {
  const { messages: labels, ui } = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/messages?status=deferred&q=Alone')
  await expect.poll(() => rows(page).count()).toBe(1)
  await page.getByRole('checkbox', { name: labels.selectAll }).check()
  await page
    .getByRole('region', { name: labels.selection })
    .getByRole('button', { name: labels.bulk.cancel.title })
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: labels.bulk.cancel.action_one.replace('{{count}}', '1') }).click()
  await expect.poll(() => rows(page).count()).toBe(0)
  await dialog.getByRole('button', { name: ui.close, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await leave()
})

test('the filtered list is downloaded as CSV', async () => {
  const { messages: labels } = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/messages?tag=category:receipt&status=bounced')
  await page.getByRole('button', { name: labels.export.action }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('dialog').getByRole('button', { name: labels.export.download }).click()
  const text = await readFile(await (await download).path(), 'utf8')
  const read = [...csvRows(text.replace('\uFEFF', ''))].filter(row => row.length > 1)
  expect(read.map(row => [row[3], row[5]])).toEqual([
    ['recipient', 'reason'],
    ['unknown.address@unknown.example', 'address'],
  ])
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await leave()
})

test('page size, pages and a custom period are in the address', async () => {
  const { messages: labels, ui } = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/messages')
  await expect.poll(() => rows(page).count()).toBe(20)
  await page.getByRole('button', { name: ui.nextPage }).click()
  await page.waitForURL(url => url.searchParams.has('after'))
  await page.getByRole('combobox', { name: labels.pageSize }).click()
  await page.getByRole('option', { name: labels.rows.replace('{{count}}', '50') }).click()
  await page.waitForURL(url => url.searchParams.get('limit') === '50' && !url.searchParams.has('after'))
  await expect.poll(() => rows(page).count()).toBeGreaterThan(30)
  await page.getByRole('combobox', { name: labels.period }).click()
  await page.getByRole('option', { name: labels.customPeriod }).click()
  await page.getByLabel(labels.until, { exact: true }).fill('2020-01-31')
  await page.waitForURL(url => url.searchParams.get('until') === '2020-01-31T23:00:00.000Z')
  await page.getByRole('heading', { name: labels.noMatch }).waitFor()
  await expectFitting(page, [390, 1024, 1440])
  await leave()
})

test('the overview names what failed, and its tiles lead to the messages', async () => {
  const { overview: labels, messages } = catalogues.en
  const { page, complaints, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/?days=7')
  const failing = page.getByRole('region', { name: labels.failing })
  await failing.getByText('550 5.1.1 no such user here').waitFor()
  await page.getByRole('region', { name: labels.reasons }).getByRole('link', { name: messages.reasons.address }).click()
  await page.waitForURL(url => url.pathname === '/messages' && url.searchParams.get('reason') === 'address')
  await open(page, '/?hours=24')
  await page.getByRole('link', { name: labels.bounceRate }).first().click()
  await page.waitForURL(
    url => url.searchParams.get('status') === '["bounced","failed"]' && url.searchParams.has('since'),
  )
  await rows(page).first().waitFor()
  await open(page, '/')
  const busiest = page.getByRole('region', { name: labels.busiest, exact: true }).first()
  await busiest.getByText(labels.by.tag).click()
  await busiest.getByRole('link', { name: 'category:receipt' }).click()
  await page.waitForURL(url => url.searchParams.get('tag') === 'category:receipt')
  expect(complaints).toEqual([])
  await leave()
})

test('groups of the menu open and fold by keyboard, stay as they are left, and the palette opens folded pages', async () => {
  const { nav, palette } = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/')
  const group = page.getByRole('button', { name: nav.operator })
  const entry = page.getByRole('navigation').getByRole('link', { name: nav.queues, exact: true })
  const state = async () => [await group.getAttribute('aria-expanded'), await entry.count()]
  expect(await state()).toEqual(['false', 0])
  // The group of the page that is open is open, too.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: palette.label }).fill(nav.queues)
  await page.getByRole('option').filter({ hasText: nav.queues }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/admin/queues')
  await entry.and(page.locator('[aria-current=page]')).waitFor()
  await open(page, '/')
  expect(await state()).toEqual(['false', 0])
  await group.press('Enter')
  await entry.waitFor()
  await page.reload()
  await entry.waitFor()
  await group.press('Enter')
  await entry.waitFor({ state: 'detached' })
  for (const path of ['/', '/admin/queues']) {
    await open(page, path)
    expect([path, ...(await state())]).toEqual([path, 'false', 0])
  }
  await leave()
})

test.each(['light', 'dark'] as const)('the changed pages have no finding of axe and fit, %s', async scheme => {
  const { page, leave } = await signedIn(browser, service.url, service.admin, { scheme })
  await ask(page, 'GET', '/api/v1/domains')
  for (const path of [
    '/messages?status=bounced',
    '/messages?tag=category:receipt',
    '/?days=7',
    '/?hours=24',
    '/domains/sandbox.mail.example.com',
  ]) {
    await open(page, path)
    await page.waitForLoadState('networkidle')
    expect(await findings(page), path).toEqual([])
    await expectFitting(page, [390, 1024, 1440])
  }
  await leave()
})

// At the end: what is tried leaves the lists that the other tests count.
test.each(['en', 'zh-CN'] as const)('selected messages are tried now, with what fails, in %s', async language => {
  const { messages: labels, queue, ui } = catalogues[language]
  const { db } = service.mongo
  const userId = (await findUserByName(db, service.admin.username))?._id ?? ''
  const word = `Repeat${language.slice(0, 2)}`
  const [first, second, gone] = await Promise.all(
    ['one', 'two', 'three'].map(name =>
      giveMessage(db, userId, {
        ...{ subject: `${word} ${name}`, from: 'hello@shop.example', left: 1 },
        rcpts: [{ email: 'a@gone.example', type: 'to', status: 'deferred', code: 421, kind: 'throttled' }],
      }),
    ),
  )
  if (!first || !second || !gone) throw new Error('no messages')
  // Nothing of the third one waits: trying it fails.
  await Promise.all([letWait(first), letWait(second)])
  const { page, leave } = await signedIn(browser, service.url, service.admin, { language })
  await open(page, `/messages?q=${word}`)
  await expect.poll(() => rows(page).count()).toBe(3)
  await page.getByRole('checkbox', { name: labels.selectAll }).check()
  const asked: string[] = []
  page.on('request', request => {
    if (request.method() === 'POST') asked.push(new URL(request.url()).pathname)
  })
  // Beside the button for all waiting messages, each says what it is about.
  await page.getByRole('region', { name: labels.selection }).waitFor()
  const names = await page.getByRole('button').allInnerTexts()
  for (const name of [labels.bulk.retry.title, labels.bulk.cancel.title, queue.ask.retry, queue.ask.cancel])
    expect([name, names.filter(one => one === name).length]).toEqual([name, 1])
  await page
    .getByRole('region', { name: labels.selection })
    .getByRole('button', { name: labels.bulk.retry.title })
    .click()
  const dialog = page.getByRole('dialog', { name: labels.bulk.retry.title })
  await dialog.getByRole('button', { name: labels.bulk.retry.action_other.replace('{{count}}', '3') }).click()
  const progress = labels.bulk.progress.replace('{{done}}', '3').replace('{{total}}', '3')
  const failed = language === 'en' ? labels.bulk.failed_one : labels.bulk.failed_other
  await dialog.getByText(`${progress} · ${failed.replace('{{count}}', '1')}`).waitFor()
  await dialog.getByText(new RegExp(`^${word} three`)).waitFor()
  expect(asked.toSorted()).toEqual([first, second, gone].map(({ _id }) => `/api/v1/emails/${_id}/retry`).toSorted())
  await dialog.getByRole('button', { name: ui.close, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const later = { m: { $in: [first._id, second._id] }, due: { $gt: new Date(Date.now() + HOUR_MS) } }
  expect(await collectionOf(db, DELIVERIES).countDocuments(later)).toBe(0)
  await leave()
})
