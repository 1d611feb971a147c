/** Empty, failed and offline lists and the main dialogs fit into a phone and a desktop, and cut or cover nothing. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { expectFitting } from './support/overflow.ts'
import { EMPTY_PAGES } from './support/page-list.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { REFUSED, seedStored } from './support/seed-database.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

type Catalogue = (typeof catalogues)['en']

const SIZES = [390, 1440] as const
const LONG_DOMAIN = 'a-rather-long-label-for-a-subdomain.of-a-company-with-a-long-name.example.com'

const LISTS = [
  ...['/', '/messages', '/suppressions', '/inbox', '/templates', '/domains', '/smtp', '/tokens', '/webhooks'],
  ...['/dns-accounts', '/limits', '/members', '/audit', '/admin/health', '/admin/queues', '/admin/addresses'],
  ...['/admin/certificates', '/admin/resources', '/admin/domains', '/admin/users', '/apps', '/apps/shop'],
  ...['/apps/shop/users', '/apps/shop/plans', '/apps/shop/subscriptions', '/apps/shop/switches'],
  ...['/apps/shop/webhooks', '/apps/shop/changes', '/subscriptions/admins', '/subscriptions/all-changes'],
] as const

/** Dialogs: the page and the label of the button that opens each. */
const DIALOGS: readonly (readonly [path: string, button: (labels: Catalogue) => string])[] = [
  [`/messages/${REFUSED}`, labels => labels.messages.resend],
  ['/messages', labels => labels.messages.export.action],
  ['/messages', labels => labels.queue.ask.hold],
  [`/domains/${LONG_DOMAIN}`, labels => labels.domains.remove],
  ['/domains', labels => labels.domains.add],
  ['/tokens', labels => labels.access.newToken],
  ['/smtp', labels => labels.access.newLogin],
  ['/webhooks', labels => labels.webhooks.new],
  ['/members', labels => labels.members.invite],
  ['/admin/users', labels => labels.operator.newUser],
  ['/apps/shop/plans', labels => labels.subs.newPlan],
  ['/apps/shop/subscriptions', labels => labels.subs.grant],
]

/** Dialogs that show a secret once: the page, its button, and the field that has to be filled first. */
const SECRETS = [
  ['/tokens', labels => labels.access.newToken, labels => labels.access.name, 'backend-of-the-shop'],
  ['/smtp', labels => labels.access.newLogin, labels => labels.access.login, 'backend-of-the-shop-in-production'],
  ['/webhooks', labels => labels.webhooks.new, labels => labels.webhooks.url, 'https://hooks.example.com/postwright'],
] as const satisfies readonly [string, (labels: Catalogue) => string, (labels: Catalogue) => string, string][]

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([
    startPanelService({ BOUNCE_DOMAIN: 'bounces.mail.example.com' }),
    startBrowser(),
  ])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await ask(page, 'POST', '/api/v1/domains', { name: LONG_DOMAIN })
  const app = { app_name: 'Paper Shop', app_key: 'shop', app_description: 'Paper' }
  await ask(page, 'POST', '/subscription-api/app_manage', app)
  await seedStored(service, 'The mailbox does not exist')
  await leave()
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe('lists', () => {
  const labels = catalogues.en
  let visitor: Visitor
  let page: Page
  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin)
    page = visitor.page
  })
  afterAll(() => visitor?.leave())

  test.each(LISTS)('%s of a service that fails', async path => {
    const problem = { code: 'internal', detail: 'Internal error.', request_id: 'req_01kabcdefghjkmnpqrstvwxyz0' }
    await page.route(/\/(api\/v1|subscription-api)\//, (route, request) =>
      /\/(session|me)(\/|\?|$)/.test(request.url()) ? route.continue() : route.fulfill({ status: 500, json: problem }),
    )
    await page.goto(path)
    await page.getByRole('alert').first().waitFor()
    await expectFitting(page, SIZES)
    await picture(page, 'state-500', path.replaceAll(/\W+/g, '-'), 'en')
    await page.unrouteAll()
  })

  test.each(LISTS)('%s while offline', async path => {
    await open(page, path)
    await page.context().setOffline(true)
    await page.getByText(labels.ui.offlineBanner).waitFor()
    await expectFitting(page, SIZES)
    await page.context().setOffline(false)
    await page.getByText(labels.ui.offlineBanner).waitFor({ state: 'detached' })
  })
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  let visitor: Visitor
  let newcomer: Visitor

  beforeAll(async () => {
    const username = `a-new-user-with-a-long-name-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    visitor = await signedIn(browser, service.url, service.admin, { language })
    newcomer = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
  })
  afterAll(() => Promise.all([visitor?.leave(), newcomer?.leave()]))

  test.each(EMPTY_PAGES)('%s without content', async path => {
    await open(newcomer.page, path)
    await expectFitting(newcomer.page, SIZES)
  })

  test.each(DIALOGS.map(([path, button]) => [path, button(labels)] as const))('%s: %s', async (path, name) => {
    const { page } = visitor
    await open(page, path)
    await page.getByRole('button', { name, exact: true }).first().click()
    await page.getByRole('dialog').waitFor()
    await expectFitting(page, SIZES)
    await picture(page, 'dialog', path.replaceAll(/\W+/g, '-'), name, language)
  })

  test.each(SECRETS)('%s: a secret that is shown once', async (path, button, label, value) => {
    const { page } = visitor
    await open(page, path)
    await page
      .getByRole('button', { name: button(labels), exact: true })
      .first()
      .click()
    const form = page.getByRole('dialog')
    await form
      .getByRole('textbox', { name: label(labels) })
      .fill(path === '/smtp' ? `${value}-${language.slice(0, 2)}` : value)
    await form.getByRole('button', { name: labels.ui.create, exact: true }).click()
    await page.getByRole('button', { name: labels.ui.secretKept }).waitFor()
    await expectFitting(page, SIZES)
    await picture(page, 'secret', path.replaceAll(/\W+/g, '-'), language)
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('the menus of the header', async () => {
    const { page } = newcomer
    await open(page, '/domains')
    for (const width of SIZES) {
      await page.setViewportSize({ width, height: 900 })
      await page.getByRole('button', { name: 'a-new-user-with-a-long-name' }).click()
      await page.getByRole('menu').getByText('a-new-user-with-a-long-name').waitFor()
      await expectFitting(page, [width])
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
    }
    expect(newcomer.complaints).toEqual([])
  })
})
