/** Publishing DNS records through the panel to a real Knot server, from the DNS account to the removal of the domain. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dnsAccounts } from '../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const LANGUAGES = ['en', 'zh-CN'] as const
/** Records that already exist: an SPF policy, a verification record of another service, an MX. */
const FOREIGN = ['@ IN TXT "v=spf1 mx -all"', '@ IN TXT "site-verification=abc"', '@ IN MX 10 mx']
const ZONES = [
  ...LANGUAGES.map(language => ({ name: zoneOf(language), lines: FOREIGN })),
  { name: 'sender.test', lines: [] },
  { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.sender.test.'] },
]
let server: DnsServer
let recursor: Recursor
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  server = await startDnsServer('knot', ZONES)
  recursor = await startRecursor(ZONES.map(({ name }) => ({ name, port: server.port })))
  ;[service, browser] = await Promise.all([
    startPanelService({
      MAIL_HOSTNAME: 'mail.sender.test',
      SENDING_IP: '192.0.2.10',
      BOUNCE_DOMAIN: 'bounces.sender.test',
      DNS_SERVERS: recursor.address,
      DNS_PORT: String(server.port),
      DNS_ALLOW_PRIVATE: 'true',
    }),
    startBrowser(),
  ])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
  await recursor?.stop()
  await server?.stop()
})

function zoneOf(language: string): string {
  return `shop-${language.toLowerCase()}.test`
}

describe.each(LANGUAGES)('in %s', language => {
  const labels = catalogues[language]
  const zone = zoneOf(language)
  let visitor: Visitor
  let page: Page
  let before: string[]

  beforeAll(async () => {
    const username = `owner-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    visitor = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    page = visitor.page
    before = server.transfer(zone)
  })
  afterAll(() => visitor?.leave())

  const dialog = () => page.getByRole('dialog')
  const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const record = (name: string) => dialog().getByRole('region', { name })

  async function fillAccount(secret: string): Promise<void> {
    await dialog().getByRole('textbox', { name: labels.dns.field.server, exact: true }).fill(`127.0.0.1:${server.port}`)
    await dialog().getByRole('textbox', { name: labels.dns.field.zone, exact: true }).fill(zone)
    await dialog().getByRole('textbox', { name: labels.dns.field.key_name, exact: true }).fill(server.key.name)
    await dialog().getByLabel(labels.dns.field.key_secret, { exact: true }).fill(secret)
  }

  test('an account is tested before it is stored: a wrong key is reported', async () => {
    await open(page, '/dns-accounts')
    await page.getByText(labels.dns.noAccounts).waitFor()
    await page.getByRole('button', { name: labels.dns.addAccount }).first().click()
    await dialog().getByRole('combobox', { name: labels.dns.provider }).click()
    await page.getByRole('option', { name: labels.dns.providers.rfc2136 }).click()
    await dialog().getByRole('textbox', { name: labels.access.name, exact: true }).fill('Our Knot')
    await fillAccount(Buffer.from('wrong').toString('base64'))
    await press(labels.dns.saveAndTest)
    await dialog().getByRole('alert').waitFor()
    await picture(page, 'dns-account-refused', language)
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])
    await fillAccount(server.key.secret)
    await press(labels.dns.saveAndTest)
    await page.getByRole('cell', { name: 'Our Knot', exact: true }).waitFor()
    await page.getByRole('cell', { name: labels.dns.works }).waitFor()
    // The list is read again before the dialog closes, whose field still holds the secret.
    await dialog().waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(server.key.secret)
  })

  test('its credentials are replaced and tested again', async () => {
    await page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', 'Our Knot') }).click()
    await page.getByRole('menuitem', { name: labels.dns.replaceCredentials }).click()
    expect(await dialog().getByRole('combobox', { name: labels.dns.provider }).isDisabled()).toBe(true)
    await dialog().getByRole('textbox', { name: labels.access.name, exact: true }).fill('Knot of the house')
    await fillAccount(server.key.secret)
    await press(labels.dns.saveAndTest)
    await page.getByRole('cell', { name: 'Knot of the house', exact: true }).waitFor()
    await page.getByRole('button', { name: labels.ui.actionsFor.replace('{{name}}', 'Knot of the house') }).click()
    await page.getByRole('menuitem', { name: labels.dns.test }).click()
    await page.getByText(labels.dns.testOk.replace('{{name}}', 'Knot of the house')).waitFor()
  })

  test('the only account is chosen for a domain, and then one that is made on its page', async () => {
    const name = `in-place.${zone}`
    const domain = () => ask(page, 'GET', `/api/v1/domains/${name}`) as Promise<{ dns_account_id: string | null }>
    await ask(page, 'POST', '/api/v1/domains', { name })
    await open(page, `/domains/${name}`)
    const chosen = page.getByRole('combobox', { name: labels.dns.account })
    await expect.poll(() => chosen.inputValue()).toBe('Knot of the house')
    expect((await domain()).dns_account_id).toBe(null)
    // People have one account of each provider: this one makes room for another on the same server.
    const list = (await ask(page, 'GET', '/api/v1/dns-accounts')) as { data: { id: string }[] }
    const accounts = modelOf(service.mongo.db, dnsAccounts)
    const other = { _id: list.data[0]?.id ?? '' }
    await accounts.updateOne(other, { by_hand: false })
    await page.getByRole('button', { name: labels.dns.addAccount }).click()
    await dialog().getByRole('combobox', { name: labels.dns.provider }).click()
    await page.getByRole('option', { name: labels.dns.providers.rfc2136 }).click()
    await dialog().getByRole('textbox', { name: labels.access.name, exact: true }).fill('Made in place')
    await fillAccount(server.key.secret)
    await press(labels.dns.saveAndTest)
    await dialog().waitFor({ state: 'detached' })
    await expect.poll(() => chosen.inputValue(), { timeout: 30_000 }).toBe('Made in place')
    const made = (await domain()).dns_account_id
    expect([null, other._id]).not.toContain(made)
    await ask(page, 'PATCH', `/api/v1/domains/${name}`, { dns_account_id: null })
    await ask(page, 'DELETE', `/api/v1/dns-accounts/${made}`)
    await accounts.updateOne(other, { by_hand: true })
  })

  test('the page of a domain counts what the check found, and links to the console of its DNS host', async () => {
    const name = `in-place.${zone}`
    const { id, records } = (await ask(page, 'GET', `/api/v1/domains/${name}`)) as {
      id: string
      records: { id: string; need: string }[]
    }
    const required = records.filter(({ need }) => need === 'required')
    expect(required.length).toBeGreaterThan(2)
    const found = required.slice(0, 2).map(record => ({
      ...{ row: record.id, status: 'verified', observed: [], errors: [], warnings: [], instructions: [] },
    }))
    const check = { at: new Date(), attempts: 1, failures: 0, errors: [], records: found }
    const hosted = { ...check, name_servers: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'] }
    const stored = modelOf(service.mongo.db, domains)
    await stored.updateOne({ _id: id }, { $set: { check: hosted, next_check_at: new Date(Date.now() + 86_400_000) } })
    await open(page, `/domains/${name}`)
    const count = labels.domains.requiredFound_other
      .replace('{{found}}', '2')
      .replace('{{count}}', String(required.length))
    await page.getByText(count, { exact: true }).waitFor()
    const link = page.getByRole('link', { name: labels.dns.openConsole.replace('{{name}}', 'Cloudflare') })
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/dash\.cloudflare\.com/)
    expect(await link.getAttribute('rel')).toContain('noreferrer')
    // The page of a pending domain reads it again and again.
    await open(page, '/domains')
    await ask(page, 'DELETE', `/api/v1/domains/${name}`)
  })

  test('a plan is previewed as a diff without writing anything', async () => {
    await open(page, '/domains')
    await page.getByRole('button', { name: labels.domains.add }).first().click()
    await dialog().getByRole('textbox', { name: labels.domains.name }).fill(zone)
    await press(labels.domains.add)
    await page.waitForURL(`**/domains/${zone}`)
    await page.getByRole('combobox', { name: labels.dns.account }).click()
    await page.getByRole('option', { name: 'Knot of the house' }).click()
    await page.getByRole('button', { name: labels.dns.preview }).click()
    const spf = record(`TXT ${zone}`)
    await spf.locator('[data-side=before]').filter({ hasText: 'v=spf1 mx -all' }).waitFor()
    await spf.locator('[data-side=after]').filter({ hasText: 'v=spf1 mx ip4:192.0.2.10 -all' }).waitFor()
    expect(await dialog().locator('[aria-current=step]').innerText()).toContain(labels.dns.station.plan)
    await picture(page, 'dns-plan', language)
    if (language === 'zh-CN') await dialog().getByText('在现有记录中加入 ip4:192.0.2.10。').waitFor()
    expect(server.transfer(zone)).toEqual(before)
  })

  test('it is applied with one click, followed until it is visible in DNS, and the domain is verified', async () => {
    await press(labels.dns.apply)
    await dialog().getByRole('status').getByText(labels.dns.after.seen).waitFor()
    await record(`TXT _dmarc.${zone}`).getByText(labels.dns.result.seen).waitFor()
    await picture(page, 'dns-applied', language)
    expect(server.dig(zone, 'TXT')).toContain('v=spf1 mx ip4:192.0.2.10 -all')
    await press(labels.ui.close)
    await page.getByText(labels.domains.status.verified).first().waitFor()
    await page.getByText(labels.dns.history).click()
    await page.getByRole('table').getByText(labels.dns.checkOutcome.verified).first().waitFor()
    await picture(page, 'domain-verified', language)
  })

  test('a second plan keeps all records and has nothing to write', async () => {
    await page.getByRole('button', { name: labels.dns.preview }).click()
    await record(`TXT ${zone}`).getByText(labels.dns.action.keep).waitFor()
    expect(await dialog().getByRole('button', { name: labels.dns.apply }).isDisabled()).toBe(true)
    await press(labels.ui.cancel)
  })

  test('a rotated key is published and activated, and the old one is revoked by typing its name', async () => {
    const keys = page.getByRole('region', { name: labels.domains.keys }).getByRole('table')
    const old = await keys.getByRole('row').nth(1).getByRole('cell').first().innerText()
    await page.getByRole('button', { name: labels.dns.rotate }).click()
    await press(labels.dns.rotate)
    await keys.getByText(labels.domains.keyState.pending).waitFor()
    await page.getByRole('button', { name: labels.dns.preview }).click()
    await press(labels.dns.apply)
    await dialog().getByRole('status').getByText(labels.dns.after.seen).waitFor()
    await press(labels.ui.close)
    await keys.getByText(labels.domains.keySeen).waitFor()
    await picture(page, 'dkim-rotation', language)
    await keys.getByRole('button', { name: labels.domains.activate }).click()
    await press(labels.domains.activate)
    await keys.getByText(labels.domains.keyState.retiring).waitFor()
    await keys.getByRole('button', { name: `${labels.domains.revoke}: ${old}` }).click()
    await dialog().getByRole('textbox').fill(old)
    await press(labels.domains.revoke)
    await keys.getByText(labels.domains.keyState.revoked).waitFor()
  })

  test('settings change the expected records', async () => {
    await page.getByRole('combobox', { name: labels.dns.policy }).click()
    await page.getByRole('option', { name: labels.dns.policies.quarantine }).click()
    await page.getByRole('textbox', { name: labels.dns.rua }).fill(`dmarc@${zone}`)
    await page.getByRole('region', { name: labels.dns.settings }).getByRole('button', { name: labels.ui.save }).click()
    await page.getByText(`v=DMARC1; p=quarantine; rua=mailto:dmarc@${zone}`).first().waitFor()
  })

  test('the return path is expected as MX and SPF records where these are chosen', async () => {
    const records = page.getByRole('combobox', { name: labels.dns.returnPathRecords })
    await page.getByText(labels.dns.returnPathRecordsHint.cname).waitFor()
    await records.click()
    await page.getByRole('option', { name: labels.dns.returnPathForms.mx }).click()
    await page.getByText(labels.dns.returnPathRecordsHint.mx).waitFor()
    await page.getByRole('region', { name: labels.dns.settings }).getByRole('button', { name: labels.ui.save }).click()
    await page.getByRole('region', { name: `${labels.dns.purpose.return_path_mx} bounce.${zone}` }).waitFor()
    await page.getByRole('region', { name: `${labels.dns.purpose.return_path_spf} bounce.${zone}` }).waitFor()
    await page.getByText('v=spf1 include:bounces.sender.test ~all').first().waitFor()
    expect(await page.getByRole('region', { name: `${labels.dns.purpose.return_path} bounce.${zone}` }).count()).toBe(0)
    await page.getByRole('combobox', { name: labels.dns.returnPath, exact: true }).click()
    await page.getByRole('option', { name: labels.dns.returnPaths.shared }).click()
    await records.waitFor({ state: 'detached' })
  })

  test('removing a domain restores the zone', async () => {
    await page.getByRole('button', { name: labels.domains.remove }).click()
    await dialog().getByRole('textbox').fill(zone)
    await press(labels.domains.remove)
    await page.waitForURL('**/domains')
    await page.getByText(labels.domains.none).waitFor()
    expect(server.transfer(zone)).toEqual(before)
    expect(visitor.complaints).toEqual([])
  })
})
