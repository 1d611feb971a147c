/** Support for one end user, in a real browser: found by search, granted, refunded; many at once; what was sent and paid. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import { upsertUser } from '../../services/subscriptions/people/manage-end-users.ts'
import { startWebhookReceiver } from '../support/http/webhook-receiver.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { menuFocus } from './support/effort.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, holdRequests, open, picture, signedIn } from './support/user-actions.ts'

const PATIENT = { timeout: 30_000 }

const ADMIN_BASE_URL = 'https://subscriptions.example.net'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE: 'loopback', ADMIN_BASE_URL }
  ;[service, browser] = await Promise.all([startPanelService(env), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const PEOPLE = [
  { nickname: 'Ada', platform: 'ios', email: 'ada@example.org' },
  { nickname: 'Grace', platform: 'android', email: 'grace@example.net' },
  { nickname: 'Lin', platform: 'ios', email: 'lin@example.cn' },
] as const

/** Counts the keys of a journey without a mouse. */
function keyboardOf(page: Page) {
  let presses = 0
  const press = async (key: string) => {
    presses++
    await page.keyboard.press(key)
  }
  /** Moves the focus to a control. */
  const moveTo = async (target: Locator, key: string) => {
    await target.waitFor()
    for (let steps = 0; steps < 60; steps++) {
      if ((await target.and(page.locator(':focus')).count()) > 0) return
      await press(key)
    }
    throw new Error(`The control is not reached with the key ${key}.`)
  }
  return {
    press,
    get presses() {
      return presses
    },
    async type(text: string) {
      presses += text.length
      await page.keyboard.type(text)
    },
    tabTo: (target: Locator) => moveTo(target, 'Tab'),
    moveTo,
  }
}

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  const { subs, ui, webhooks } = labels
  const app = `desk-${language.toLowerCase()}`
  const base = '/subscription-api'
  const query = `?app_key=${app}`
  let visitor: Visitor
  let page: Page
  let users: string[]
  let plan: string

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
    await ask(page, 'POST', `${base}/app_manage`, { app_name: `Desk ${language}`, app_key: app })
    const features = JSON.stringify({ features: ['Export'] })
    await ask(page, 'POST', `${base}/subscription_plan${query}`, {
      name: 'Monthly',
      price: 19.9,
      duration: 30,
      features,
    })
    const { data } = (await ask(page, 'GET', `${base}/subscription_plan${query}`)) as {
      data: { plans: { id: string }[] }
    }
    plan = data.plans[0]?.id ?? ''
    const context = openSubscriptions(service.foundation)
    const made = await Promise.all(
      PEOPLE.map(profile =>
        upsertUser(context, app, { identities: { openid: `${app}-${profile.nickname}` }, profile }),
      ),
    )
    users = made.map(({ user }) => String(user._id))
    const rules = [
      { name: 'Apple', conditions: [{ attribute: 'platform', operator: 'eq', values: ['ios'] }], value: '1' },
    ]
    const flag = { name: 'dark', type: 'boolean', value: '0', rules }
    await ask(page, 'POST', `${base}/switch_manage${query}`, flag)
  })
  afterAll(() => visitor?.leave())

  const dialog = () => page.getByRole('dialog')
  const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })
  const region = (name: string) => page.getByRole('region', { name, exact: true })
  const entry = (label: string) =>
    page.getByRole('navigation', { name: ui.menu }).getByRole('link', { name: label, exact: true })
  const search = (name: string) => new URL(page.url()).searchParams.get(name)

  test('a user is found, granted a plan and refunded without a mouse', async () => {
    const keys = keyboardOf(page)
    await open(page, `/apps/${app}/users`)
    await keys.tabTo(page.getByRole('link', { name: ui.skip }))
    await keys.press('Enter')
    await keys.tabTo(page.getByRole('textbox', { name: labels.messages.search }))
    await keys.type(`${app}-Grace`)
    await rowOf('Ada').waitFor({ state: 'detached' })
    await keys.tabTo(page.getByRole('link', { name: 'Grace' }))
    await keys.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor()
    await page.getByText(subs.noAccess, { exact: true }).waitFor()

    await keys.tabTo(page.getByRole('button', { name: subs.grant }))
    await keys.press('Enter')
    const choice = dialog().getByRole('combobox', { name: subs.plan })
    await choice.and(page.locator(':focus')).waitFor()
    await keys.type('Mon')
    await page.getByRole('option', { name: 'Monthly' }).waitFor()
    await keys.press('ArrowDown')
    await keys.press('Enter')
    await expect.poll(() => choice.inputValue(), PATIENT).toBe('Monthly')
    await keys.press('Tab')
    await keys.press('Enter')
    await dialog().waitFor({ state: 'detached' })
    await page.getByText(subs.hasAccess, { exact: true }).waitFor()
    // A dialog returns the focus a moment after it is gone.
    await page.getByRole('button', { name: subs.grant }).and(page.locator(':focus')).waitFor()

    const actions = region(subs.listTitle).first().getByRole('button')
    await keys.tabTo(actions)
    await keys.press('Enter')
    await menuFocus(page)
    await keys.moveTo(page.getByRole('menuitem', { name: subs.refund }), 'ArrowDown')
    await keys.press('Enter')
    const reason = dialog().getByRole('textbox', { name: subs.reason })
    await reason.and(page.locator(':focus')).waitFor()
    // Nobody paid for a grant.
    await dialog().getByText(subs.refundUnpaidText).waitFor()
    await keys.type('Asked')
    await keys.tabTo(dialog().getByRole('button', { name: subs.refund, exact: true }))
    await keys.press('Enter')
    await dialog().waitFor({ state: 'detached' })
    await page.getByText(subs.noAccess, { exact: true }).waitFor()
    await region(subs.payments).first().getByText(subs.paymentKinds.refund, { exact: true }).waitFor()
    await region(subs.changesTitle).first().getByText(subs.actionNames.subscription.refund).waitFor()
    await picture(page, 'user-page', language)
    // Besides the text of the search, of the plan and of the reason. It takes 45 or 46: Chromium gives a part of the page
    // that can scroll while its content loads a tab stop of its own.
    expect(keys.presses - `${app}-Grace`.length - 'Mon'.length - 'Asked'.length).toBeLessThanOrEqual(50)
    expect(visitor.complaints).toEqual([])
  })

  test('the page of a user says what its app gets, and why', async () => {
    await open(page, `/apps/${app}/users/${users[0]}`)
    const switches = region(subs.switchesTitle).first()
    await switches.getByText(subs.reasons.namedRule.replace('{{rule}}', '1').replace('{{name}}', 'Apple')).waitFor()
    await open(page, `/apps/${app}/users/${users[1]}`)
    await switches.getByText(subs.reasons.noRule, { exact: true }).waitFor()
    await switches.getByRole('link', { name: 'dark' }).click()
    await page.getByRole('heading', { level: 1, name: 'dark' }).waitFor()
  })

  test('an unknown user is refused with a message', async () => {
    await open(page, `/apps/${app}/users/999999`)
    await page.getByText(ui.goneTitle).waitFor()
    expect(visitor.complaints.splice(0).every(text => text.includes('404'))).toBe(true)
  })

  test('lists filter by what the API has; the address keeps it, and the export has it', async () => {
    await open(page, `/apps/${app}/users`)
    await page.getByRole('combobox', { name: subs.platform }).click()
    await page.getByRole('option', { name: 'android' }).click()
    await rowOf('Ada').waitFor({ state: 'detached' })
    await rowOf('Grace').waitFor()
    await page.reload()
    await rowOf('Grace').waitFor()
    expect(await rowOf('Ada').count()).toBe(0)
    expect(search('platform')).toBe('android')
    const link = page.getByRole('link', { name: subs.exportHint })
    expect(await link.getAttribute('href')).toContain('platform=android')
    await page.getByRole('button', { name: labels.messages.clearFilters }).click()
    await rowOf('Ada').waitFor()
    const created = page.getByRole('columnheader', { name: ui.created })
    expect(await created.getAttribute('aria-sort')).toBe('descending')
    const names = () => page.getByRole('row').getByRole('link').allInnerTexts()
    const newest = await names()
    await created.getByRole('button').click()
    await expect.poll(names, PATIENT).toEqual(newest.toReversed())
    expect([search('order'), await created.getAttribute('aria-sort')]).toEqual(['asc', 'ascending'])
    await page.getByLabel(subs.createdTo).fill('2020-01-01')
    await page.getByText(subs.noMatch).waitFor()
    await page.getByRole('button', { name: labels.messages.clearFilters }).first().click()
    await rowOf('Ada').waitFor()
    expect(new URL(page.url()).search).toBe('')

    await open(page, `/apps/${app}/subscriptions?status=4&plan_id=${plan}&user_id=${users[1]}`)
    await rowOf('Grace').waitFor()
    await expect.poll(() => page.getByRole('combobox', { name: subs.user }).inputValue(), PATIENT).toContain('Grace')
    const method = page.getByRole('combobox', { name: subs.method })
    await method.fill('paypal')
    await page.getByRole('option', { name: 'paypal', exact: true }).click()
    await page.getByText(subs.noMatch).waitFor()
    expect(search('payment_method')).toBe('paypal')
    await page.reload()
    await expect.poll(() => method.inputValue(), PATIENT).toBe('paypal')
    await open(page, `/apps/${app}/subscriptions?status=nothing&payment_method=wechat`)
    await page.getByText(subs.noMatch).waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('Ctrl+K finds a user of the app, its webhooks and its user statistics', async () => {
    await open(page, `/apps/${app}`)
    for (const [text, kind, path] of [
      ['Grace', 'endUser', `/apps/${app}/users/${users[1]}`],
      [labels.nav.appWebhooks, 'page', `/apps/${app}/webhooks`],
      [subs.allChangesTitle, 'page', '/subscriptions/all-changes'],
      [subs.userStatisticsTitle, 'page', `/apps/${app}/user-statistics`],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: labels.palette.label }).fill(text)
      await page
        .getByRole('option')
        .filter({ hasText: text })
        .filter({ hasText: labels.palette.kinds[kind] })
        .first()
        .click()
      await page.waitForURL(`**${path}`)
    }
    expect(visitor.complaints).toEqual([])
  })

  test('Ctrl+K finds a user of an app before any page of the app was opened', async () => {
    const first = await signedIn(browser, service.url, service.admin, { language })
    await open(first.page, '/messages')
    await first.page.keyboard.press('Control+k')
    await first.page.getByRole('combobox', { name: labels.palette.label }).fill('Grace')
    await first.page
      .getByRole('option')
      .filter({ hasText: 'Grace' })
      .filter({ hasText: `grace@example.net · Desk ${language}` })
      .click()
    await first.page.waitForURL(`**/apps/${app}/users/${users[1]}`)
    await first.page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor()
    expect(first.complaints).toEqual([])
    await first.leave()
  })

  test('the changes of all apps include those of administrators, and name the app', async () => {
    await open(page, `/apps/${app}/changes`)
    await page.getByRole('link', { name: subs.allChangesTitle }).click()
    await page.getByRole('heading', { level: 1, name: subs.allChangesTitle }).waitFor()
    await rowOf(app).first().waitFor()
    const filter = async (label: string, choice: string) => {
      await page.getByRole('combobox', { name: label }).click()
      await page.getByRole('option', { name: choice, exact: true }).click()
    }
    await filter(labels.account.target, subs.targetKinds.admin)
    // They belong to no app.
    await rowOf(app).first().waitFor({ state: 'detached' })
    expect(search('target_kind')).toBe('admin')
    await page.getByRole('button', { name: labels.messages.clearFilters }).first().click()
    await page.getByRole('textbox', { name: subs.changeFields.app_key }).fill(app)
    await rowOf(subs.actionNames.subscription.refund).first().waitFor()
    await expect.poll(() => search('app'), PATIENT).toBe(app)
    // Until the answer arrives, the list still shows the changes of the apps of the other language.
    const switchLink = rowOf(subs.actionNames.switch.create).getByRole('link')
    await expect.poll(() => switchLink.count(), PATIENT).toBe(1)
    await switchLink.click()
    await page.waitForURL(`**/apps/${app}/switches/dark`)
    expect(visitor.complaints).toEqual([])
  })

  test('several subscriptions are extended; what failed is listed with its reason and stays selected', async () => {
    for (const user_id of [users[0], users[2]])
      await ask(page, 'POST', `${base}/subscription${query}`, { user_id, plan_id: plan })
    await open(page, `/apps/${app}/subscriptions`)
    await page.getByRole('checkbox', { name: subs.selectPage }).check()
    const bar = region(subs.selection)
    await bar.getByRole('status').getByText('3').waitFor()
    await bar.getByRole('button', { name: subs.batch.extend }).click()
    const days = dialog().getByRole('textbox', { name: subs.daysMore })
    const requests: string[] = []
    page.on('request', request => requests.push(request.method()))
    for (const impossible of ['0', '', '36501']) {
      await days.fill(impossible)
      await dialog().getByRole('button', { name: subs.batch.extend, exact: true }).click()
      await days.and(page.locator('[aria-invalid=true]:focus')).waitFor()
      const range = ui.numberRange.replace('{{min}}', '1').replace('{{max}}', '36500')
      await dialog().getByText(range, { exact: true }).first().waitFor()
    }
    expect(requests.filter(method => method !== 'GET')).toEqual([])
    await days.fill('10')
    await dialog().getByRole('textbox', { name: subs.reason }).fill('Outage')
    const release = await holdRequests(page, /\/subscription\/batch\?/)
    await dialog().getByRole('button', { name: subs.batch.extend, exact: true }).click()
    // While it runs nothing closes the dialog, and leaving the page asks.
    const progress = dialog().getByText(subs.batchDone.replace('{{done}}', '0').replace('{{total}}', '3'))
    await progress.waitFor()
    await page.keyboard.press('Escape')
    const ends = [ui.cancel, ui.closeDialog].map(name => dialog().getByRole('button', { name }).count())
    expect(await Promise.all(ends)).toEqual([0, 0])
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    await (await asked).dismiss()
    await progress.waitFor()
    release()
    const failed = dialog().getByRole('row').filter({ hasText: 'Grace · Monthly' })
    await failed.waitFor()
    expect((await failed.getByRole('cell').nth(1).innerText()).length).toBeGreaterThan(5)
    await dialog().getByText(subs.batchSucceeded_other.replace('{{count}}', '2')).waitFor()
    const title = subs.batchTitle.extend_other.replace('{{count}}', '3')
    expect(await page.getByRole('dialog', { name: title }).count()).toBe(1)
    await picture(page, 'batch-result', language)
    await dialog().getByRole('button', { name: ui.close, exact: true }).click()
    await bar.getByRole('status').getByText('1').waitFor()
    const select = (name: string) =>
      page.getByRole('checkbox', { name: subs.selectOne.replace('{{name}}', `${name} · Monthly`) })
    expect([await select('Grace').isChecked(), await select('Ada').isChecked()]).toEqual([true, false])
    await bar.getByRole('button', { name: subs.clearSelection }).click()
    await bar.waitFor({ state: 'detached' })
    await open(page, `/apps/${app}/changes?action=subscription.extend`)
    expect(await rowOf(subs.actionNames.subscription.extend).count()).toBe(2)
    expect(visitor.complaints).toEqual([])
  })

  test('the change history leads to the one plan and to the one subscription that changed', async () => {
    const yearly = { name: 'Yearly', price: 199, duration: 365, features: JSON.stringify({ features: [] }) }
    await ask(page, 'POST', `${base}/subscription_plan${query}`, yearly)
    const rows = () => page.getByRole('row').count()
    const all = page.getByRole('button', { name: labels.messages.clearFilters })
    // The router writes texts that look like numbers in quotes.
    const named = (name: string) => search(name)?.replaceAll('"', '')

    await open(page, `/apps/${app}/changes?action=plan.create`)
    await rowOf('Monthly')
      .getByRole('link', { name: `${subs.targetKinds.plan} ${plan}`, exact: true })
      .click()
    await page.waitForURL(`**/apps/${app}/plans?*`)
    expect(named('plan')).toBe(plan)
    await rowOf('Monthly').getByText('¥19.90', { exact: true }).waitFor()
    await expect.poll(rows, PATIENT).toBe(2)
    await all.click()
    await rowOf('Yearly').waitFor()

    await open(page, `/apps/${app}/changes?action=subscription.refund`)
    const target = rowOf(subs.actionNames.subscription.refund).getByRole('link', {
      name: new RegExp(`^${subs.targetKinds.subscription} \\d+$`),
    })
    const id = (await target.innerText()).split(' ').at(-1)
    await target.click()
    await page.waitForURL(`**/apps/${app}/subscriptions?*`)
    expect(named('subscription')).toBe(id)
    await rowOf('Grace').getByText(subs.status[4]).waitFor()
    await expect.poll(rows, PATIENT).toBe(2)
    await all.click()
    await rowOf('Ada').waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('a plan or subscription that is gone is refused with a message', async () => {
    for (const path of ['plans?plan=999999', 'subscriptions?subscription=999999']) {
      await open(page, `/apps/${app}/${path}`)
      await page.getByText(ui.goneTitle).waitFor()
      expect(visitor.complaints.splice(0).every(text => text.includes('404'))).toBe(true)
    }
  })

  test('the statistics of users are counted, and their days chosen', async () => {
    await open(page, `/apps/${app}`)
    const tabs = page.getByRole('navigation', { name: subs.statisticsTitle })
    await tabs.getByRole('link', { name: subs.tabs.users }).click()
    await region(subs.byPlatform).first().getByRole('row').filter({ hasText: 'ios' }).getByText('2').waitFor()
    expect(await region(subs.byDay).first().getByRole('row').count()).toBe(31)
    await page.getByText(labels.overview.days_other.replace('{{count}}', '7')).click()
    await expect.poll(() => region(subs.byDay).first().getByRole('row').count(), PATIENT).toBe(8)
    expect(search('days')).toBe('7')
    await tabs.getByRole('link', { name: subs.tabs.revenue }).click()
    await page.getByText(subs.mrr, { exact: true }).waitFor()
    expect(search('days')).toBe('7')
  })

  test('the editor of a switch shows its effect on a user before it is saved, and asks before it is left', async () => {
    await open(page, `/apps/${app}/switches/dark`)
    const effect = page.getByRole('complementary', { name: subs.effect })
    await effect.getByRole('combobox', { name: subs.sampleUser }).fill('Ada')
    // Until the search is done the list has all users, and then this one moves.
    await expect.poll(() => page.getByRole('option').count(), PATIENT).toBe(1)
    await page.getByRole('option', { name: 'Ada' }).click()
    const rule = (number: number, name: string) =>
      subs.reasons.namedRule.replace('{{rule}}', String(number)).replace('{{name}}', name)
    await effect.getByText(rule(1, 'Apple'), { exact: true }).waitFor()
    await page.getByPlaceholder('ios, android').fill('web')
    await effect.getByText(subs.reasons.noRule, { exact: true }).waitFor()
    await effect.getByRole('textbox', { name: subs.sampleAttributes }).fill('platform=web')
    await effect.getByText(rule(1, 'Apple'), { exact: true }).waitFor()
    await picture(page, 'switch-effect', language)

    await page.getByRole('link', { name: subs.switchesTitle }).first().click()
    const question = page.getByRole('dialog', { name: ui.unsavedTitle })
    await question.getByRole('button', { name: ui.keepEditing }).click()
    await page.locator('#content form').getByRole('button', { name: ui.save, exact: true }).click()
    await page.waitForURL(`**/apps/${app}/switches`)
    await rowOf('dark').waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('a webhook of the app is made, tested, seen in the log, sent again and deleted', async () => {
    const receiver = await startWebhookReceiver(response => void response.writeHead(500).end('not <b>now</b>'))
    await open(page, `/apps/${app}/settings`)
    await page.getByRole('link', { name: subs.openWebhooks }).click()
    await page.getByText(webhooks.none).waitFor()
    await page.getByRole('button', { name: webhooks.new }).click()
    await dialog().getByRole('textbox', { name: webhooks.url }).fill('http://10.0.0.1/hook')
    await dialog().getByRole('button', { name: ui.create }).click()
    await dialog().locator('[aria-invalid=true]').waitFor()
    expect(visitor.complaints.splice(0).every(text => text.includes('422'))).toBe(true)
    await dialog().getByRole('textbox', { name: webhooks.url }).fill(receiver.url)
    await dialog().getByRole('button', { name: ui.create }).click()
    receiver.secrets.push(await page.locator('pre').filter({ hasText: 'whsec_' }).innerText())
    await page.getByRole('button', { name: ui.secretKept }).click()

    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByRole('button', { name: webhooks.test }).click()
    await dialog().getByText('not <b>now</b>').waitFor()
    expect([receiver.received.length, receiver.forged]).toEqual([1, 0])
    await page.keyboard.press('Escape')
    receiver.reply = response => void response.writeHead(204).end()
    await ask(page, 'PUT', `${base}/user/${users[2]}${query}`, { status: '0' })
    const delivered = page.getByRole('row').filter({ hasText: 'user.updated' })
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: subs.refresh }).click()
          return delivered.filter({ hasText: webhooks.deliveryState.delivered }).count()
        },
        { timeout: 60_000 },
      )
      .toBe(1)
    await delivered.getByRole('button', { name: webhooks.details }).click()
    await dialog().getByText('webhook-signature').waitFor()
    await page.keyboard.press('Escape')
    const tested = page.getByRole('row').filter({ hasText: 'webhook.test' })
    await tested.waitFor()
    await page.getByRole('combobox', { name: webhooks.type }).click()
    await page.getByRole('option', { name: 'user.updated', exact: true }).click()
    await tested.waitFor({ state: 'detached' })
    expect(search('type')).toBe('user.updated')
    await delivered.getByRole('button', { name: webhooks.details }).click()
    const before = receiver.received.length
    await dialog().getByRole('button', { name: webhooks.replay }).click()
    await expect.poll(() => receiver.received.length, PATIENT).toBe(before + 1)
    await picture(page, 'app-webhook-delivery', language)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: webhooks.replayFailed }).click()
    await dialog().getByRole('button', { name: webhooks.replay, exact: true }).click()
    await page.getByText(new RegExp(webhooks.replayed.replace('{{count}}', '\\d+'))).waitFor()
    expect(receiver.forged).toBe(0)

    await entry(labels.nav.appWebhooks).click()
    await page.waitForURL(`**/apps/${app}/webhooks`)
    const menu = page.getByRole('button', { name: ui.actionsFor.replace('{{name}}', receiver.url) })
    await menu.click()
    await page.getByRole('menuitem', { name: webhooks.rotate }).click()
    await dialog().getByRole('button', { name: webhooks.rotate }).click()
    const renewed = await page.locator('pre').filter({ hasText: 'whsec_' }).innerText()
    expect(receiver.secrets).not.toContain(renewed)
    receiver.secrets.push(renewed)
    await page.getByRole('button', { name: ui.secretKept }).click()
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByText(subs.previousSecret).waitFor()
    await page.getByRole('button', { name: webhooks.test }).click()
    await page.getByText(webhooks.tested).first().waitFor()
    expect(receiver.forged).toBe(0)
    await entry(labels.nav.appWebhooks).click()
    await menu.click()
    await page.getByRole('menuitem', { name: webhooks.disable }).click()
    await page.getByText(webhooks.state.off, { exact: true }).waitFor()
    await menu.click()
    await page.getByRole('menuitem', { name: ui.delete }).click()
    await dialog().getByRole('button', { name: ui.delete }).click()
    await page.getByText(webhooks.none).waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('each payment channel has a guide with its callback URL', async () => {
    await open(page, `/apps/${app}/settings`)
    for (const channel of ['alipay', 'wechat', 'huawei'] as const) {
      const section = region(subs.methods[channel])
      const url = `${ADMIN_BASE_URL}/notify/${channel}/${app}`
      await section.getByText(url, { exact: true }).waitFor()
      await section.getByText(labels.guides.title.replace('{{channel}}', subs.methods[channel])).click()
      for (const part of ['console', 'here', 'backend', 'test'] as const)
        await section.getByText(labels.guides.parts[part], { exact: true }).waitFor()
      await section.getByRole('listitem').filter({ hasText: url }).waitFor()
      expect(await section.getByRole('listitem').count()).toBeGreaterThan(10)
    }
    await picture(page, 'channel-guides', language)
  })
})
