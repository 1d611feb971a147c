/** The admin pages in a real browser, in both languages. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leaseQuota } from '../../services/mail/limits/store/quota-leases.ts'
import { DAY_MS } from '../../services/platform/durations.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { seedStored, UNROUTED } from './support/seed-database.ts'
import { seed } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const ZONES = [
  { name: 'example.com', lines: ['mail IN A 192.0.2.10'] },
  { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.example.com.'] },
  {
    name: 'list.test',
    lines: ['11.2.0.192 IN A 127.0.0.2', '11.2.0.192 IN TXT "https://list.test/why?ip=192.0.2.11"'],
  },
]
let server: DnsServer
let recursor: Recursor
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  server = await startDnsServer('knot', ZONES)
  recursor = await startRecursor(ZONES.map(({ name }) => ({ name, port: server.port })))
  ;[service, browser] = await Promise.all([
    startPanelService({ SENDING_IP: '192.0.2.10,192.0.2.11', BLOCKLISTS: 'list.test', DNS_SERVERS: recursor.address }),
    startBrowser(),
  ])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await seed(page, { subject: 'Hello', html: '<p>Hello</p>', thing: 'Paper Shop' })
  await seedStored(service, 'The DKIM record is not visible yet.')
  await leave()
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
  await recursor?.stop()
  await server?.stop()
})

/** Texts of failures that are ours, not the words of a receiving server. */
const REASONS = {
  en: {
    unreachable: '192.0.2.25: no connection within 30 s',
    unrouted: '550 5.1.2 the domain no.example does not exist',
  },
  'zh-CN': { unreachable: '192.0.2.25：30 秒内未能建立连接', unrouted: '550 5.1.2 域名 no.example 不存在' },
}

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
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

  test('a listed address without a PTR record shows advice; a healthy one does not', async () => {
    await open(page, '/admin/addresses')
    const good = page.getByRole('region', { name: '192.0.2.10', exact: true })
    await good.getByText(labels.operator.ptr.ok, { exact: true }).waitFor()
    await good.getByText(labels.operator.list.clear).waitFor()
    const bad = page.getByRole('region', { name: '192.0.2.11', exact: true })
    await bad.getByText(labels.operator.ptr.missing, { exact: true }).waitFor()
    await bad.getByText('https://list.test/why?ip=192.0.2.11').waitFor()
    await bad.getByText(labels.operator.listAdvice.listed.replace('{{zone}}', 'list.test')).waitFor()
    await page.getByRole('button', { name: labels.operator.lookAgain }).click()
    await bad.waitFor()
    await picture(page, 'addresses', language)
  })

  test('deferred deliveries of a destination are retried; a suspended one is not', async () => {
    await open(page, '/admin/queues')
    const row = (site: string) => page.getByRole('row').filter({ hasText: site })
    await row('paused.example').first().getByText(labels.operator.pausedUntil).waitFor()
    await row('paused.example').getByText(REASONS[language].unreachable).waitFor()
    await picture(page, 'queues', language)
    await row('slow.example').getByRole('button', { name: labels.operator.retryNow }).click()
    await page
      .getByText(/slow\.example/)
      .nth(1)
      .waitFor()
  })

  test('a failure of our own is explained in the language of the reader', async () => {
    await open(page, `/messages/${UNROUTED}`)
    await page.getByText(REASONS[language].unrouted).first().waitFor()
  })

  test('certificates are listed with expiry and problems', async () => {
    await open(page, '/admin/certificates')
    await page.getByText(labels.operator.certificateError.expires_in_weeks).waitFor()
    await page.getByText(labels.operator.certificateError.self_signed.replace('{{host}}', 'mail.example.com')).waitFor()
    await picture(page, 'certificates', language)
  })

  test('an admin verifies a domain by typing its name, and sees its owner', async () => {
    const name = `vouched-${language.toLowerCase()}.example`
    const owner = await giveUser(service.mongo.db, { username: `owner-${language.toLowerCase()}` })
    await giveDomain(service.mongo.db, owner._id, name)
    await open(page, `/admin/domains?user=${owner._id}`)
    const row = page.getByRole('row').filter({ hasText: name })
    await row.getByRole('cell', { name: owner.username, exact: true }).waitFor()
    await row.getByRole('button', { name: `${labels.operator.markVerified}: ${name}` }).click()
    await page.getByRole('dialog').getByRole('textbox').fill(name)
    await page.getByRole('dialog').getByRole('button', { name: labels.operator.markVerified, exact: true }).click()
    await row.getByText(labels.domains.by.admin).waitFor()
  })

  test("an admin sets a daily limit, and the account's user sees its usage", async () => {
    const username = `limited-${language.toLowerCase()}`
    const user = await giveUser(service.mongo.db, { username })
    await open(page, '/admin/users')
    const row = page.getByRole('row').filter({ hasText: username })
    await row.getByText(labels.access.unlimited).waitFor()
    await row.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', username) }).click()
    await page.getByRole('menuitem', { name: labels.operator.dailyLimit }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: labels.operator.perDay }).fill('1200')
    await picture(page, 'daily-limit', language)
    await dialog.getByRole('button', { name: labels.ui.save }).click()
    const used = (count: string) => labels.overview.ofLimit.replace('{{used}}', count).replace('{{limit}}', '1,200')
    await row.getByText(used('0'), { exact: true }).waitFor()

    const day = { holder: user._id, ms: DAY_MS, index: Math.floor(Date.now() / DAY_MS) }
    await leaseQuota(service.mongo, day, { limit: 1200, need: 1150, wanted: 1150 })
    const reader = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    await open(reader.page, '/domains')
    await reader.page.getByRole('link', { name: labels.nav.overview, exact: true }).click()
    await reader.page.getByText(used('1,150'), { exact: true }).waitFor()
    await reader.page.getByText(labels.overview.todayHint).waitFor()
    await picture(reader.page, 'overview-limited', language)
    expect(reader.complaints).toEqual([])
    await reader.leave()

    await open(page, '/')
    expect(await page.getByText(labels.overview.today).count()).toBe(0)
  })

  test('the badge of a record links to the conditions of its resource', async () => {
    await open(page, '/domains/own.example')
    await page.getByRole('link', { name: 'MailDomain web/own' }).click()
    await page.waitForURL('**/admin/resources?q=web%2Fown')
    await page.getByRole('region', { name: 'MailDomain web/own' }).getByText(labels.operator.readiness.ready).waitFor()
    expect(await page.getByRole('region', { name: 'MailDomain web/declared' }).count()).toBe(0)
    await open(page, '/admin/resources')
    const plan = page.getByRole('region', { name: 'SubscriptionPlan web/monthly' })
    await plan.getByText('The DKIM record is not visible yet.').waitFor()
    await picture(page, 'resources', language)
  })
})
