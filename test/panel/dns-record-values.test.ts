/** What the page of a pending domain gives to copy: names of the zone, merged policies, and what is missing in DNS. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { giveDomain } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

const DOMAIN = 'mail.records.example'
const DMARC = 'v=DMARC1; p=reject; rua=mailto:dmarc@records.example'
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { db } = service.mongo
  const userId = (await findUserByName(db, service.admin.username))?._id ?? expect.fail('the admin is missing')
  const found = (row: string, observed: string[], status: 'failed' | 'verified' | 'not_started' = 'failed') => ({
    ...{ row, status, observed, errors: [], warnings: [], instructions: [] },
  })
  await giveDomain(db, userId, DOMAIN, {
    status: 'pending',
    check: {
      ...{ at: new Date(), attempts: 1, failures: 0, zones: ['records.example'], errors: [] },
      dmarc: { at: DOMAIN, policy: 'reject' },
      records: [
        found('ownership', [], 'not_started'),
        found('spf', ['v=spf1 mx -all']),
        found('dmarc', [DMARC], 'verified'),
      ],
    },
  })
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

async function recordsOf(visitor: Visitor, purpose: string) {
  const { page } = visitor
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(page, `/domains/${DOMAIN}`)
  const optional = page.locator('details').filter({ has: page.locator('.pw-record') })
  if ((await optional.count()) > 0 && !(await optional.first().evaluate('details => details.open')))
    await optional.first().locator('summary').first().click()
  return page.getByRole('region', { name: new RegExp(`^${purpose} `) }).first()
}

test.each(['en', 'zh-CN'] as const)(
  'names are those of the zone that holds them, the full name second, in %s',
  async language => {
    const labels = catalogues[language]
    const visitor = await signedIn(browser, service.url, service.admin, { language })
    const dmarc = await recordsOf(visitor, labels.dns.purpose.dmarc)
    await dmarc.getByText('_dmarc.mail', { exact: true }).waitFor()
    await dmarc.getByText(`_dmarc.${DOMAIN}`, { exact: true }).waitFor()
    const spf = visitor.page.getByRole('region', { name: new RegExp(`^${labels.dns.purpose.spf} `) })
    await spf.getByText('mail', { exact: true }).waitFor()
    await visitor.leave()
  },
)

test('a foreign SPF policy is merged in what is copied, and a strict DMARC policy stays', async () => {
  const labels = catalogues.en
  const visitor = await signedIn(browser, service.url, service.admin)
  const { page } = visitor
  const spf = await recordsOf(visitor, labels.dns.purpose.spf)
  await spf.getByRole('button', { name: new RegExp(labels.dns.expected) }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(copied).toMatch(/^v=spf1 mx .*ip4:192\.0\.2\.10.* -all$/)
  await spf.getByText(labels.dns.merged.spf).waitFor()
  const dmarc = page.getByRole('region', { name: new RegExp(`^${labels.dns.purpose.dmarc} `) })
  await dmarc.getByRole('button', { name: new RegExp(labels.dns.expected) }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('p=reject')
  expect(await page.getByRole('combobox', { name: labels.dns.policy }).inputValue()).toBe(labels.dns.policies.reject)
  await visitor.leave()
})

test('a record that a check has not found says that it is not published', async () => {
  const labels = catalogues.en
  const visitor = await signedIn(browser, service.url, service.admin)
  const ownership = await recordsOf(visitor, labels.dns.purpose.ownership)
  await ownership.getByText(labels.dns.notPublished).waitFor()
  await visitor.leave()
})
