/** The subscription pages in a real browser, in both languages. */
import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import { upsertUser } from '../../services/subscriptions/people/manage-end-users.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const PATIENT = { timeout: 30_000 }

const NICKNAMES = ['Ada', 'Grace', 'Lin'] as const

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  const texts = language === 'en' ? english : chinese.texts
  const app = `shop-${language.toLowerCase()}`
  let visitor: Visitor
  let page: Page
  let users: string[]

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
    const base = '/subscription-api'
    await ask(page, 'POST', `${base}/app_manage`, { app_name: `Shop ${language}`, app_key: app })
    for (const [name, duration] of [
      ['Monthly', 30],
      ['For ever', 0],
    ] as const)
      await ask(page, 'POST', `${base}/subscription_plan?app_key=${app}`, {
        name,
        price: '19.90',
        duration,
        features: JSON.stringify({ features: ['Support'] }),
      })
    const context = openSubscriptions(service.foundation)
    const made = await Promise.all(
      NICKNAMES.map(nickname =>
        upsertUser(context, app, { identities: { openid: `${app}-${nickname}` }, profile: { nickname } }),
      ),
    )
    users = made.map(({ user }) => String(user._id))
  })
  afterAll(() => visitor?.leave())

  const dialog = () => page.getByRole('dialog')
  const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })
  const menu = async (row: string, item: string) => {
    await rowOf(row).getByRole('button').last().click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  /** Chooses the user in the open dialog by a text that finds it alone. */
  const pickUser = async (text: string, name: string) => {
    await dialog().getByRole('combobox', { name: labels.subs.user }).fill(text)
    // Until the search is done the list has all users, and then this one moves.
    await expect.poll(() => page.getByRole('option').count(), PATIENT).toBe(1)
    await page.getByRole('option', { name }).click()
  }

  test('a plan is granted to a user who is found by name, extended, and canceled', async () => {
    await open(page, `/apps/${app}/subscriptions`)
    await page.getByText(labels.subs.noSubscriptions).waitFor()
    await page.getByRole('button', { name: labels.subs.grant }).click()
    await pickUser('ada', 'Ada')
    await dialog().getByRole('combobox', { name: labels.subs.plan }).click()
    await page.getByRole('option', { name: 'Monthly' }).click()
    await press(labels.subs.grant)
    await rowOf('Ada').getByText(labels.subs.status[1], { exact: true }).waitFor()
    const end = async () => (await rowOf('Ada').getByRole('cell').nth(6).locator('time').getAttribute('datetime')) ?? ''
    const before = await end()
    // Dates, and not only how far away they are.
    for (const column of [5, 6]) expect(await rowOf('Ada').getByRole('cell').nth(column).innerText()).toMatch(/20\d\d/)

    await menu('Ada', labels.subs.extend)
    const more = dialog().getByRole('textbox', { name: labels.subs.daysMore })
    for (const nothing of ['0', '']) {
      await more.fill(nothing)
      await press(labels.subs.extend)
      await more.and(page.locator('[aria-invalid=true]')).waitFor()
      await dialog().getByText(texts['field.too_low'].replace('{count}', '1')).waitFor()
    }
    expect(await end()).toBe(before)
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])
    await more.fill('10')
    await dialog().getByRole('textbox', { name: labels.subs.reason }).fill('After the outage')
    await press(labels.subs.extend)
    await dialog().waitFor({ state: 'detached' })
    await expect.poll(end, PATIENT).not.toBe(before)
    expect((Date.parse(await end()) - Date.parse(before)) / 86_400_000).toBe(10)

    await menu('Ada', labels.subs.cancelSubscription)
    const cancel = dialog().getByRole('button', { name: labels.subs.cancelSubscription })
    const reason = dialog().getByRole('textbox', { name: labels.subs.reason })
    await reason.and(page.locator(':focus')).waitFor()
    await reason.fill('Moved away')
    // Enter in a field does not confirm.
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: labels.subs.keep }).waitFor()
    await picture(page, 'subscription-cancel', language)
    await cancel.click()
    await rowOf('Ada').getByText(labels.subs.status[3]).waitFor()
  })

  test('its history names the reasons; an ended subscription has no other action', async () => {
    await rowOf('Ada').getByRole('button').last().click()
    const items = page.getByRole('menuitem')
    await expect.poll(() => items.allInnerTexts(), PATIENT).toEqual([labels.subs.changeHistory])
    await items.click()
    const reason = (text: string) => labels.subs.reasonGiven.replace('{{reason}}', text)
    const { subscription, plan } = labels.subs.actionNames
    await rowOf(subscription.cancel).getByText(reason('Moved away'), { exact: true }).waitFor()
    await rowOf(subscription.extend).getByText(reason('After the outage'), { exact: true }).waitFor()
    // Ends are dates, not seconds.
    const end = rowOf(subscription.extend).locator('div').filter({ hasText: labels.subs.changeFields.end })
    expect(await end.last().innerText()).toMatch(/20\d\d/)
    // The plan by its name, and no payment where there was none.
    const created = rowOf(subscription.create)
    await created.locator('summary').click()
    await created.getByRole('link', { name: 'Monthly', exact: true }).first().waitFor()
    expect(await created.innerText()).not.toMatch(/[{}"[\]]|0000/)
    expect(await rowOf(plan.create).count()).toBe(0)
    await page.getByRole('button', { name: labels.subs.allChanges }).click()
    await rowOf(plan.create).first().waitFor()
    await open(page, `/apps/${app}/subscriptions`)
  })

  test('a refunded one is marked as refunded', async () => {
    await page.getByRole('button', { name: labels.subs.grant }).click()
    // By the external id.
    await pickUser(`${app}-Grace`, 'Grace')
    await dialog().getByRole('combobox', { name: labels.subs.plan }).click()
    await page.getByRole('option', { name: 'For ever' }).click()
    await press(labels.subs.grant)
    await rowOf('Grace').getByText(labels.subs.status[1], { exact: true }).waitFor()
    await menu('Grace', labels.subs.refund)
    await press(labels.subs.refund)
    await rowOf('Grace').getByText(labels.subs.status[4]).waitFor()
  })

  test('an error is shown in the form', async () => {
    await page.getByRole('button', { name: labels.subs.grant }).click()
    await dialog().getByRole('combobox', { name: labels.subs.user }).fill('Nobody of this name')
    await page.getByText(labels.subs.noUserFound, { exact: true }).waitFor()
    await dialog().getByRole('combobox', { name: labels.subs.plan }).click()
    await page.getByRole('option', { name: 'Monthly' }).click()
    await press(labels.subs.grant)
    await dialog().getByRole('alert').waitFor()
    expect(visitor.complaints.splice(0).filter(text => !/422/.test(text))).toEqual([])
    await press(labels.ui.cancel)
  })

  test('a file is validated without changes, rejected completely, then imported', async () => {
    const plans = (await ask(page, 'GET', `/subscription-api/subscription_plan?app_key=${app}`)) as {
      data: { plans: { id: string; name: string }[] }
    }
    const plan = plans.data.plans.find(({ name }) => name === 'Monthly')?.id ?? ''
    const choose = (rows: string[]) =>
      dialog()
        .locator('input[type=file]')
        .setInputFiles({
          name: 'grants.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(['user_id,plan_id,days,client_ref', ...rows].join('\n')),
        })
    await page.getByRole('button', { name: labels.subs.import }).click()
    await choose([`${users[2]},${plan},7,a-1`, `nobody,${plan},7,a-2`])
    await dialog().getByRole('alert').getByRole('table').waitFor()
    await picture(page, 'csv-faults', language)
    expect(await dialog().getByRole('button', { name: labels.subs.importAction }).isDisabled()).toBe(true)
    await choose([`${users[2]},${plan},7,${app}-1`])
    await dialog().getByRole('status').waitFor()
    await press(labels.subs.importAction)
    await rowOf('Lin').getByText(labels.subs.expiringSoon).waitFor()
  })

  test('the filtered list is exported', async () => {
    const started = page.waitForEvent('download')
    await page.getByRole('link', { name: labels.subs.exportHint }).click()
    const text = await readFile(await (await started).path(), 'utf8')
    expect(text.trim().split('\n')).toHaveLength(4)
    expect(text).toContain('Lin')
  })

  test('a switch with a rule and a schedule; a revision is restored, also after deletion', async () => {
    const form = page.locator('#content form')
    const save = (name: string) => form.getByRole('button', { name, exact: true }).click()
    await open(page, `/apps/${app}/switches`)
    await page.getByRole('link', { name: labels.subs.newSwitch }).first().click()
    await form.getByRole('textbox', { name: labels.subs.name, exact: true }).fill('checkout')
    await form.getByRole('button', { name: labels.subs.addRule }).click()
    const attribute = form.getByRole('textbox', { name: labels.subs.attribute, exact: true })
    await form.getByPlaceholder('ios, android').fill('ios')
    // Enter in a field of a rule is not the last step of the form.
    await page.keyboard.press('Enter')
    // The effect says what is missing, too.
    const refused = page
      .getByRole('status')
      .filter({ hasText: labels.subs.effectRefused })
      // That of the last input: what is refused later would be a complaint.
      .and(page.locator('[aria-busy=false]'))
    const { rule, condition, separator } = labels.fieldPath
    await refused
      .getByText([`${rule} 1`, `${condition} 1`, labels.subs.attribute].join(separator))
      .first()
      .waitFor()
    expect(await refused.innerText()).not.toMatch(/rules|conditions|\.0/)
    visitor.complaints.length = 0
    await save(labels.ui.create)
    await attribute.and(page.locator('[aria-invalid=true]:focus')).waitFor()
    await form.getByText(texts['field.empty']).waitFor()
    await form.getByRole('alert').waitFor()
    expect(await form.getByRole('alert').innerText()).not.toContain('rules')
    await picture(page, 'switch-rule-refused', language)
    // One request: the one of the button.
    expect(visitor.complaints.splice(0).map(text => text.includes('422'))).toEqual([true])
    await attribute.fill('platform')
    await form.getByRole('combobox', { name: labels.subs.ruleValue }).click()
    await page.getByRole('option', { name: labels.subs.on, exact: true }).click()
    await form.getByRole('button', { name: labels.subs.addSchedule }).click()
    await form.getByRole('combobox', { name: labels.subs.scheduleState }).click()
    await page.getByRole('option', { name: labels.subs.offForAll }).click()
    // The value of a boolean switch is chosen, too.
    const scheduled = form.getByRole('combobox', { name: labels.subs.value, exact: true })
    await scheduled.click()
    await page.getByRole('option', { name: labels.subs.on, exact: true }).click()
    await picture(page, 'switch-rules', language)
    await save(labels.ui.create)
    await page.getByRole('cell', { name: 'checkout', exact: true }).waitFor()

    await menu('checkout', labels.ui.edit)
    expect(await form.getByPlaceholder('ios, android').inputValue()).toBe('ios')
    expect(await scheduled.inputValue()).toBe(labels.subs.on)
    await form.getByRole('textbox', { name: labels.subs.description }).fill('The new checkout')
    await save(labels.ui.save)
    await page.getByText('The new checkout').waitFor()

    await menu('checkout', labels.subs.history)
    await dialog().locator('[data-side=before]').filter({ hasText: 'The new checkout' }).waitFor()
    await picture(page, 'switch-history', language)
    await dialog().getByRole('button', { name: labels.subs.restore }).click()
    await page.getByRole('dialog').nth(1).getByRole('button', { name: labels.subs.restore, exact: true }).click()
    await dialog().first().waitFor({ state: 'detached' })
    await page.getByText('The new checkout').waitFor({ state: 'detached' })

    await menu('checkout', labels.ui.delete)
    await dialog().getByRole('textbox').fill('checkout')
    await press(labels.ui.delete)
    await page.getByText(labels.subs.noSwitches).waitFor()
    await page.getByRole('button', { name: labels.subs.restoreDeleted }).click()
    await dialog().getByRole('textbox', { name: labels.subs.name }).fill('checkout')
    await press(labels.subs.find)
    await dialog().getByRole('button', { name: labels.subs.restore }).first().click()
    await page.getByRole('dialog').nth(1).getByRole('button', { name: labels.subs.restore, exact: true }).click()
    await dialog().first().waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'checkout', exact: true }).waitFor()
  })

  test('a plan shows its changes and restores a revision', async () => {
    await open(page, `/apps/${app}/plans`)
    await menu('Monthly', labels.ui.edit)
    await dialog().getByRole('textbox', { name: labels.subs.price, exact: true }).fill('29.90')
    await dialog().getByRole('textbox', { name: labels.subs.originalPrice }).fill('29.90')
    await press(labels.ui.save)
    await page.getByRole('cell', { name: '¥29.90' }).waitFor()
    await menu('Monthly', labels.subs.history)
    await dialog().getByRole('button', { name: labels.subs.restore }).first().click()
    await page.getByRole('dialog').nth(1).getByRole('button', { name: labels.subs.restore, exact: true }).click()
    await dialog().first().waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: '¥19.90' }).first().waitFor()
  })

  test('keys are created, shown once and revoked; a payment channel is set up without showing its secret', async () => {
    await open(page, '/apps')
    await page.getByRole('link', { name: app, exact: true }).click()
    await page.getByRole('button', { name: labels.subs.newKey }).click()
    await page.getByRole('menuitem', { name: labels.subs.keyKind.secret }).click()
    const secret = await dialog().locator('pre').innerText()
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    expect(secret.length).toBeGreaterThan(30)
    expect(await page.content()).not.toContain(secret)
    const revoke = page.getByRole('button', { name: new RegExp(`^${labels.access.revoke}:`) })
    const live = await revoke.count()
    await revoke.last().click()
    await dialog().getByRole('textbox').fill(app)
    await press(labels.access.revoke)
    await expect.poll(() => revoke.count(), PATIENT).toBe(live - 1)

    await page.getByRole('button', { name: `${labels.subs.setUp}: ${labels.subs.methods.wechat}` }).click()
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' })
    for (const [name, value] of [
      ['mchid', '1900000109'],
      ['appid', 'wx8888'],
      ['serial', 'PUB_KEY_ID_1'],
      ['public_key', String(key)],
      ['api_v3_key', 'k'.repeat(32)],
    ] as const)
      await dialog().getByRole('textbox', { name, exact: true }).fill(value)
    await picture(page, 'payment-channel', language)
    await press(labels.ui.save)
    const channel = page.getByRole('region', { name: labels.subs.methods.wechat })
    await channel.getByText(labels.subs.channelState.on, { exact: true }).waitFor()
    await channel.getByText(`/notify/wechat/${app}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: `${labels.subs.setUp}: ${labels.subs.methods.wechat}` }).click()
    await dialog().getByText(labels.subs.secretIsSet).waitFor()
    expect(await dialog().getByRole('textbox', { name: 'api_v3_key' }).inputValue()).toBe('')
    await press(labels.ui.cancel)
    await picture(page, 'app', language)
  })

  test('an app requires signatures and has a sender; invalid settings are rejected with a message; a managed app is read-only', async () => {
    const settings = page.getByRole('region', { name: labels.subs.settings })
    const edit = settings.getByRole('button', { name: labels.ui.edit })
    const sender = dialog().getByRole('textbox', { name: labels.subs.mailFrom })
    const signed = dialog().getByRole('switch', { name: labels.subs.requireSignature })
    await settings.getByText(labels.subs.platformSender).waitFor()
    await settings.getByText(labels.subs.signaturesOrSecret).waitFor()

    await edit.click()
    await sender.fill('notice@nobody.example')
    await press(labels.ui.save)
    await sender.and(page.locator('[aria-invalid=true]:focus')).waitFor()
    await dialog().getByRole('alert').waitFor()
    await picture(page, 'app-settings-refused', language)
    await sender.fill('notice@sandbox.mail.example.com')
    await signed.focus()
    await page.keyboard.press('Space')
    expect(await signed.isChecked()).toBe(true)
    await press(labels.ui.save)
    // No signing key exists yet.
    await sender.and(page.locator('[aria-invalid=true]')).waitFor({ state: 'detached' })
    await dialog().getByRole('alert').waitFor()
    await press(labels.ui.cancel)
    expect(visitor.complaints.splice(0).filter(text => !/4(09|22)/.test(text))).toEqual([])

    await page.getByRole('button', { name: labels.subs.newKey }).click()
    await page.getByRole('menuitem', { name: labels.subs.keyKind.hmac }).click()
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    await edit.click()
    await sender.fill('notice@sandbox.mail.example.com')
    await signed.focus()
    await page.keyboard.press('Space')
    await picture(page, 'app-settings', language)
    await press(labels.ui.save)
    await settings.getByText(labels.subs.signaturesOnly).waitFor()
    await settings.getByText('notice@sandbox.mail.example.com').waitFor()

    const { collections } = openSubscriptions(service.foundation)
    expect(await collections.apps.findOne({ app_key: app })).toMatchObject({
      require_signature: true,
      mail_from: 'notice@sandbox.mail.example.com',
    })
    const owner = { kind: 'App', namespace: 'web', name: 'shop', uid: 'uid-shop' }
    await collections.apps.updateOne({ app_key: app }, { $set: { managed_by: owner } })
    await page.reload()
    await settings.getByText('notice@sandbox.mail.example.com').waitFor()
    await settings.getByText(labels.subs.signaturesOnly).waitFor()
    expect(await edit.count()).toBe(0)
    await collections.apps.updateOne({ app_key: app }, { $unset: { managed_by: 1 } })
  })

  test('a user is granted a plan from the list of users, disabled, enabled, and erased', async () => {
    await open(page, `/apps/${app}/users`)
    await menu('Ada', labels.subs.grant)
    await dialog().getByRole('combobox', { name: labels.subs.plan }).click()
    await page.getByRole('option', { name: 'For ever' }).click()
    await press(labels.subs.grant)
    await dialog().waitFor({ state: 'detached' })
    await menu('Ada', labels.access.disable)
    await rowOf('Ada').getByText(labels.subs.userStatus[0]).waitFor()
    await menu('Ada', labels.access.enable)
    await rowOf('Ada').getByText(labels.subs.userStatus[1]).waitFor()
    await menu('Grace', labels.subs.erase)
    await dialog().getByRole('textbox').fill('Grace')
    await press(labels.subs.erase)
    await rowOf('Grace').waitFor({ state: 'detached' })
  })

  test('a viewer of one app sees it without actions', async () => {
    const username = `viewer-${language.toLowerCase()}`
    await open(page, '/subscriptions/admins')
    await page.getByRole('button', { name: labels.subs.newAdmin }).click()
    await dialog().getByRole('textbox', { name: labels.account.username }).fill(username)
    await dialog().getByLabel(labels.account.password, { exact: true }).fill('a long enough password')
    await dialog().getByRole('combobox', { name: labels.subs.appsTitle }).click()
    await page.getByRole('option', { name: `Shop ${language}` }).click()
    await page.keyboard.press('Escape')
    await press(labels.subs.newAdmin)
    await rowOf(username).getByText(labels.subs.roles.viewer).waitFor()
    await picture(page, 'admins', language)

    const login = { username, password: 'a long enough password' }
    const other = await signedIn(browser, service.url, login, { language })
    await open(other.page, '/subscriptions/list')
    await other.page.getByRole('cell', { name: 'Lin', exact: true }).first().waitFor()
    expect(await other.page.getByRole('button', { name: labels.subs.grant }).count()).toBe(0)
    expect(await other.page.getByRole('link', { name: labels.nav.admins }).count()).toBe(0)
    expect(await other.page.getByRole('link', { name: labels.nav.queues }).count()).toBe(0)
    await open(other.page, '/subscriptions/switches')
    await other.page.getByRole('cell', { name: 'checkout', exact: true }).waitFor()
    expect(await other.page.getByRole('link', { name: labels.subs.newSwitch }).count()).toBe(0)
    expect(other.complaints).toEqual([])
    await other.leave()
    expect(visitor.complaints).toEqual([])
  })
})
