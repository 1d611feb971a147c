/** What the page of a pending domain gives to copy: names of the zone, merged policies, and what is missing in DNS. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { sentence } from '../../services/platform/sentences/sentence.ts'
import { giveDomain } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

const DOMAIN = 'mail.records.example'
const UNCHECKED = 'unchecked.example'
const BELOW = 'news.policy.example'
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
  // Never due, so that no check of it begins.
  await giveDomain(db, userId, UNCHECKED, { status: 'pending' })
  // Nothing at `_dmarc.news`; the record of policy.example has `sp=quarantine`.
  await giveDomain(db, userId, BELOW, {
    status: 'pending',
    check: {
      ...{ at: new Date(), attempts: 1, failures: 0, zones: ['policy.example'], errors: [] },
      dmarc: { at: 'policy.example', policy: 'quarantine' },
      records: [
        {
          ...found('dmarc', [], 'verified'),
          warnings: [sentence('dns.dmarc_inherited', { at: 'policy.example', policy: 'quarantine' })],
        },
      ],
    },
  })
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

async function recordsOf(visitor: Visitor, purpose: string, domain = DOMAIN) {
  const { page } = visitor
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(page, `/domains/${domain}`)
  const optional = page.locator('details').filter({ has: page.locator('.pw-record') })
  if ((await optional.count()) > 0 && (await optional.first().getAttribute('open')) === null)
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
  // The clipboard is written after the click.
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).toMatch(/^v=spf1 mx .*ip4:192\.0\.2\.10.* -all$/)
  await spf.getByText(labels.dns.merged.spf).waitFor()
  const dmarc = page.getByRole('region', { name: new RegExp(`^${labels.dns.purpose.dmarc} `) })
  await dmarc.getByRole('button', { name: new RegExp(labels.dns.expected) }).click()
  await expect.poll(copied).toContain('p=reject')
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

test.each(['en', 'zh-CN'] as const)('below a DMARC policy no weaker record is offered, in %s', async language => {
  const labels = catalogues[language]
  const visitor = await signedIn(browser, service.url, service.admin, { language })
  const { page } = visitor
  const dmarc = await recordsOf(visitor, labels.dns.purpose.dmarc, BELOW)
  await dmarc.getByText(labels.dns.inherited, { exact: true }).waitFor()
  await dmarc.getByText(labels.dns.inheritedNoneNeeded).waitFor()
  await dmarc.getByText(labels.dns.inheritedFound).waitFor()
  await dmarc.getByText(/policy\.example.*quarantine/).waitFor()
  expect(await dmarc.getByText(/v=DMARC1|p=none/).count()).toBe(0)
  expect(await dmarc.getByRole('button', { name: new RegExp(labels.dns.expected) }).count()).toBe(0)
  const policy = page.getByRole('combobox', { name: labels.dns.policy })
  expect(await policy.inputValue()).toBe(labels.dns.policies.quarantine)
  const zone = await page.context().request.get(`/api/v1/domains/${BELOW}/zonefile`)
  expect(await zone.text()).toContain('v=DMARC1; p=quarantine')
  await visitor.leave()
})

test.each(['en', 'zh-CN'] as const)(
  'until the first check SPF and DMARC values are not offered, in %s',
  async language => {
    const labels = catalogues[language]
    const visitor = await signedIn(browser, service.url, service.admin, { language })
    const { page } = visitor
    const ownership = await recordsOf(visitor, labels.dns.purpose.ownership, UNCHECKED)
    const copy = { name: new RegExp(labels.dns.expected) }
    await ownership.getByRole('button', copy).waitFor()
    for (const purpose of ['spf', 'dmarc'] as const) {
      const row = page.getByRole('region', { name: new RegExp(`^${labels.dns.purpose[purpose]} `) })
      await row.getByText(labels.dns.checking).waitFor()
      expect(await row.getByRole('button', copy).count()).toBe(0)
      expect(await row.getByText(/v=spf1|v=DMARC1/).count()).toBe(0)
    }
    await visitor.leave()
  },
)

test('the first check of a domain begins when it is added, and the page shows its result', async () => {
  const labels = catalogues.en
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await ask(page, 'POST', '/api/v1/domains', { name: 'added.example' })
  await open(page, '/domains/added.example')
  await page.getByText(labels.dns.lastCheck).waitFor({ timeout: 90_000 })
  const spf = page.getByRole('region', { name: new RegExp(`^${labels.dns.purpose.spf} `) })
  await spf.getByRole('button', { name: new RegExp(labels.dns.expected) }).waitFor()
  await leave()
})

test.each(['en', 'zh-CN'] as const)(
  'the sandbox domain needs no records and shows no count of them, in %s',
  async language => {
    const labels = catalogues[language]
    const { page, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/domains/sandbox.mail.example.com')
    await page.getByText(labels.dns.sandboxNeedsNone).waitFor()
    expect(await page.getByRole('progressbar').count()).toBe(0)
    await open(page, `/domains/${DOMAIN}`)
    await page.getByRole('progressbar').first().waitFor()
    expect(await page.getByText(labels.dns.sandboxNeedsNone).count()).toBe(0)
    await leave()
  },
)
