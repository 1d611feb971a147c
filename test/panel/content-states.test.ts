/** Empty, failed, forbidden and loading pages, in both languages. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, holdRequests, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  // Not in capture mode, so that the inbox is not part of the menu.
  ;[service, browser] = await Promise.all([startPanelService({ DELIVERY_MODE: 'direct' }), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    const username = `new-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    visitor = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    page = visitor.page
  })
  afterAll(() => visitor?.leave())

  test.each([
    ['/domains', labels.domains.none],
    ['/messages', labels.messages.none],
    ['/smtp', labels.access.noLogins],
    ['/tokens', labels.access.noTokens],
    ['/suppressions', labels.suppressions.none],
    ['/dns-accounts', labels.dns.noAccounts],
    ['/inbox', labels.messages.inboxOff],
  ])('%s shows that it is empty and the next step', async (path, title) => {
    await open(page, path)
    await page.getByRole('heading', { name: title }).waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('the trial inbox is not in the menu of a service that delivers', async () => {
    await open(page, '/domains')
    expect(await page.getByRole('link', { name: labels.nav.inbox }).count()).toBe(0)
    expect(await page.getByText(labels.ui.trial, { exact: true }).count()).toBe(0)
  })

  test.each([
    '/admin/health',
    '/admin/queues',
    '/admin/addresses',
    '/admin/certificates',
    '/admin/resources',
    '/admin/domains',
    '/admin/users',
    '/subscriptions',
    '/subscriptions/admins',
  ])('%s is not for users, and shows that', async path => {
    await open(page, path)
    await page.getByRole('alert').getByText(labels.ui.forbiddenTitle).waitFor()
    expect(visitor.complaints.splice(0).filter(text => !text.includes('403'))).toEqual([])
  })

  test('a failing service is reported with the request id and can be retried', async () => {
    const problem = { code: 'unavailable', detail: 'The database is away.', request_id: 'req_77' }
    await page.route('**/api/v1/tokens**', route => route.fulfill({ status: 503, json: problem }))
    await page.goto('/tokens')
    await page.getByRole('alert').getByText(labels.ui.failedTitle).waitFor()
    await page.getByText('req_77').waitFor()
    await picture(page, 'state-failed', language)
    await page.unroute('**/api/v1/tokens**')
    await page.getByRole('button', { name: labels.ui.tryAgain }).click()
    await page.getByText(labels.access.noTokens).waitFor()
    visitor.complaints.length = 0
  })

  test('a page shows that it is loading before its first response, not that it is empty', async () => {
    const release = await holdRequests(page, '**/api/v1/smtp-credentials**')
    await page.goto('/smtp')
    await page.getByRole('status', { name: labels.ui.loading }).waitFor()
    expect(await page.getByText(labels.access.noLogins).count()).toBe(0)
    release()
    await page.getByText(labels.access.noLogins).waitFor()
    await page.unroute('**/api/v1/smtp-credentials**')
  })

  test('a page that was never loaded reports an unreachable service while offline', async () => {
    await open(page, '/domains')
    await page.getByRole('link', { name: labels.nav.audit }).hover()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: labels.nav.dnsAccounts }).click()
    await page.getByText(labels.ui.offlineBanner).waitFor()
    await picture(page, 'state-offline', language)
    await page.context().setOffline(false)
    await page.getByText(labels.ui.offlineBanner).waitFor({ state: 'detached' })
    visitor.complaints.length = 0
  })
})
