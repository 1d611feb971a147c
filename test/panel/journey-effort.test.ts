/** Times, clicks and key presses of the first journeys; three of them by keyboard alone. Prints a table. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import { upsertUser } from '../../services/subscriptions/people/manage-end-users.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { countEffort, type Effort, tabTo } from './support/effort.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

const ZONE = { en: 'shop.test', 'zh-CN': 'laden.test' } as const
const ZONES = [
  { name: ZONE.en, lines: [] },
  { name: ZONE['zh-CN'], lines: [] },
  { name: 'sender.test', lines: [] },
  { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.sender.test.'] },
]
const labels = catalogues.en
let server: DnsServer
let recursor: Recursor
let service: PanelService
let browser: TestBrowser
let visitor: Visitor
let page: Page
let take: () => Effort
const table: (Effort & { journey: string })[] = []

beforeAll(async () => {
  server = await startDnsServer('knot', ZONES)
  recursor = await startRecursor(ZONES.map(({ name }) => ({ name, port: server.port })))
  ;[service, browser] = await Promise.all([
    startPanelService({
      MAIL_HOSTNAME: 'mail.sender.test',
      SENDING_IP: '192.0.2.10',
      DNS_SERVERS: recursor.address,
      DNS_PORT: String(server.port),
      DNS_ALLOW_PRIVATE: 'true',
    }),
    startBrowser(),
  ])
  visitor = await signedIn(browser, service.url, service.admin)
  page = visitor.page
  await addDnsAccount(page, ZONE.en)
  await ask(page, 'POST', '/subscription-api/app_manage', { app_name: 'Shop', app_key: 'shop' })
  const features = JSON.stringify({ features: [] })
  const plan = { name: 'Monthly', price: '19.90', duration: 30, features }
  await ask(page, 'POST', '/subscription-api/subscription_plan?app_key=shop', plan)
  const identities = { openid: 'ada' }
  await upsertUser(openSubscriptions(service.foundation), 'shop', { identities, profile: { nickname: 'Ada' } })
  ;({ take } = await countEffort(page))
}, 400_000)

afterAll(async () => {
  const line = ({ journey, clicks, presses, moves, typed, seconds }: (typeof table)[number]) =>
    `| ${journey} | ${clicks} | ${presses} | ${moves} | ${typed} | ${seconds} |\n`
  process.stderr.write(
    `| journey | clicks | Enter | Tab and arrows | characters | seconds |\n|---|---|---|---|---|---|\n${table.map(line).join('')}`,
  )
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
  await recursor?.stop()
  await server?.stop()
})

async function addDnsAccount(page: Page, zone: string): Promise<void> {
  const { key, port } = server
  const credentials = {
    ...{ server: `127.0.0.1:${port}`, zone },
    ...{ key_name: key.name, key_algorithm: key.algorithm, key_secret: key.secret },
  }
  await ask(page, 'POST', '/api/v1/dns-accounts', { provider: 'rfc2136', name: 'Knot', credentials })
}

/** Notes what a journey took; by keyboard, nothing was clicked. */
function note(journey: string, most: Partial<Effort>): void {
  const effort = take()
  table.push({ journey, ...effort })
  for (const [name, bound] of Object.entries(most))
    expect(effort[name as keyof Effort], `${journey}: ${name}`).toBeLessThanOrEqual(bound)
}

const enter = () => page.keyboard.press('Enter')
const ticked = (name: string) => page.locator('.pw-step').filter({ hasText: name }).locator('[data-done]')

test('the first message, by keyboard', async () => {
  await open(page, '/start')
  take()
  await tabTo(page, labels.messages.sendAction)
  await enter()
  await page.getByText(labels.messages.sent).waitFor()
  await ticked(labels.start.step.send).waitFor()
  note('first message, by keyboard', { clicks: 0, presses: 1, moves: 60 })
})

test('the first simulated bounce, by keyboard', async () => {
  await open(page, '/start')
  take()
  await tabTo(page, labels.start.step.bounce + labels.start.hint.bounce)
  await enter()
  await tabTo(page, labels.start.simulated.action.replace('{{address}}', 'bounced@simulator.invalid'))
  await enter()
  await ticked(labels.start.step.bounce).waitFor()
  note('first simulated bounce, by keyboard', { clicks: 0, presses: 2, moves: 70 })
})

test('a verified domain with records in DNS, by keyboard', async () => {
  await open(page, '/domains')
  take()
  await verifyDomain(page, 'en')
  note('verified domain, by keyboard', { clicks: 0, presses: 5, moves: 200 })
})

test('the same in Chinese', async () => {
  await giveUser(service.mongo.db, { username: 'li' })
  const login = { username: 'li', password: PASSWORD }
  const { page, leave } = await signedIn(browser, service.url, login, { language: 'zh-CN' })
  await addDnsAccount(page, ZONE['zh-CN'])
  await open(page, '/domains')
  await verifyDomain(page, 'zh-CN')
  await leave()
})

/** From the list of domains, by keyboard alone. */
async function verifyDomain(page: Page, language: 'en' | 'zh-CN'): Promise<void> {
  const labels = catalogues[language]
  const enter = () => page.keyboard.press('Enter')
  await tabTo(page, labels.domains.add)
  await enter()
  await page.getByRole('dialog').waitFor()
  await page.getByRole('textbox', { name: labels.domains.name }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type(ZONE[language])
  await enter()
  await page.waitForURL(`**/domains/${ZONE[language]}`)
  // The only DNS account is chosen already.
  await page.getByRole('button', { name: labels.dns.preview }).and(page.locator(':enabled')).waitFor()
  await tabTo(page, labels.dns.preview)
  await enter()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: labels.dns.apply, exact: true }).and(page.locator(':enabled')).waitFor()
  await tabTo(page, labels.dns.apply)
  await enter()
  await dialog.getByRole('status').getByText(labels.dns.after.seen).waitFor()
  await tabTo(page, labels.ui.close)
  await enter()
  await page.getByText(labels.domains.status.verified).first().waitFor()
}

test('a grant and its refund', async () => {
  await open(page, '/apps/shop/subscriptions')
  take()
  await page.getByRole('button', { name: labels.subs.grant }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: labels.subs.user }).click()
  await page.keyboard.type('ada')
  await page.getByRole('option', { name: 'Ada' }).click()
  await dialog.getByRole('combobox', { name: labels.subs.plan }).click()
  await page.getByRole('option', { name: 'Monthly' }).click()
  await dialog.getByRole('button', { name: labels.subs.grant, exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: 'Ada' })
  await row.getByText(labels.subs.status[1], { exact: true }).waitFor()
  note('grant', { clicks: 6 })
  await row.getByRole('button').last().click()
  await page.getByRole('menuitem', { name: labels.subs.refund }).click()
  await dialog.getByRole('textbox', { name: labels.subs.reason }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Paid twice')
  await dialog.getByRole('button', { name: labels.subs.refund, exact: true }).click()
  await row.getByText(labels.subs.status[4]).waitFor()
  note('refund', { clicks: 3 })
})
