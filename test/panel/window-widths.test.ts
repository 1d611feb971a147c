/**
 * Every route of the panel, filled with long names and texts, fits into the widths of phones, laptops and desktops, cuts
 * and covers nothing, and names itself in the title of the document.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { sentence } from '../../services/platform/sentences/sentence.ts'
import { giveCredential, giveDomain, giveMembership, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { expectFitting } from './support/overflow.ts'
import { type PageIds, pagesOf, routesOfPanel } from './support/page-list.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { seedStored } from './support/seed-database.ts'
import { seedRecords } from './support/seed-records.ts'
import { ask, seed } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const labels = catalogues.en
/** One word that nothing may break by itself. */
const LONG = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk'
const PENDING = 'a-rather-long-label-for-a-subdomain.of-a-company-with-a-long-name.example.com'
const KEY = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)}`

const DAYS = 'start_date=2026-10-20&end_date=2026-11-20'

/** Filters of the message log, which are saved as a view, too. */
const FILTERS = {
  ...{ q: LONG, status: 'bounced', reason: 'authentication', source: 'system', to: LONG, domain: PENDING },
  ...{ tag: `campaign:${LONG}`, template: `tpl_${LONG}` },
} as const

/** Addresses of this test besides those of every page: long names, and lists with all of their filters set. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  '/domains/$id': [`/domains/${PENDING}`],
  '/messages': [
    `/messages?q=${LONG}${LONG}`,
    `/messages?${new URLSearchParams(FILTERS)}`,
    '/messages?since=2026-10-20T00:00:00.000Z&until=2026-11-20T00:00:00.000Z&status=authenticated',
    '/messages?days=30',
  ],
  '/suppressions': [`/suppressions?email=${LONG}&reason=complaint`],
  '/apps/$key/users': [`/apps/shop/users?search=${LONG}&status=1&order=asc&platform=ios&${DAYS}`],
  '/apps/$key/subscriptions': [
    `/apps/shop/subscriptions?status=3&payment_method=local_sync&auto_renew=1&plan_id=1&user_id=1&${DAYS}`,
    '/apps/shop/subscriptions?expiring=1',
  ],
  '/apps/$key/switches': ['/apps/shop/switches?type=changelog'],
  '/apps/$key/changes': [`/apps/shop/changes?user=1&target_kind=subscription&actor=${LONG}`],
  '/subscriptions/all-changes': [`/subscriptions/all-changes?app=shop&target_kind=credential&actor=${LONG}`],
}

const NO_IDS: PageIds = { template: '', webhook: '', user: '', appWebhook: '' }
let ids = NO_IDS
let service: PanelService
let browser: TestBrowser
let visitor: Visitor

beforeAll(async () => {
  ;[service, browser] = await Promise.all([
    startPanelService({ BOUNCE_DOMAIN: 'bounces.mail.example.com' }),
    startBrowser(),
  ])
  visitor = await signedIn(browser, service.url, service.admin)
  const { page } = visitor
  await seed(page, { subject: `Your order ${LONG}`, html: `<h1>${LONG}</h1>`, thing: LONG })
  await seedStored(service, `The mailbox ${LONG}${LONG} does not exist`)
  await seedLongNames()
  ids = await seedRecords(service, page, { word: LONG.toLowerCase(), text: LONG.repeat(3) })
}, 400_000)

afterAll(async () => {
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
})

async function seedLongNames(): Promise<void> {
  const { page } = visitor
  const { db } = service.mongo
  const owner = (await findUserByName(db, service.admin.username)) ?? expect.fail('the admin is missing')
  const userId = owner._id
  const finding = (row: string, observed: string[], code: 'dns.add_record' | 'dns.spf_change_to', value: string) => ({
    ...{ row, status: 'failed' as const, observed },
    errors: [sentence('dns.txt_missing', { name: `${row}.${PENDING}` })],
    warnings: [sentence('dns.spf_without_us', { terms: `include:${LONG}.${PENDING}` })],
    instructions: [sentence(code, { type: 'TXT', name: `${row}.${PENDING}`, value })],
  })
  await giveDomain(db, userId, PENDING, {
    status: 'pending',
    dkim: [
      {
        ...{ selector: 's1', algorithm: 'rsa-sha256', public_key: KEY.slice(18), state: 'pending' },
        ...{ sealed_private_key: 'x', created_at: new Date() },
      },
    ],
    check: {
      ...{ at: new Date(), attempts: 3, failures: 0, zones: ['example.com'], errors: [] },
      records: [
        finding('ownership', [], 'dns.add_record', 'x'.repeat(90)),
        finding('spf', [`v=spf1 include:${LONG}.example.net -all`], 'dns.spf_change_to', `v=spf1 ${LONG}`),
        finding('dkim:s1', [KEY], 'dns.add_record', KEY),
      ],
    },
  })
  await giveCredential(db, userId, `${LONG}-mailer`.slice(0, 60).toLowerCase())
  const long = await giveUser(db, { username: `${LONG}-user`.slice(0, 60).toLowerCase(), email: `${LONG}@${PENDING}` })
  await giveMembership(db, owner, long, 'developer')
  await ask(page, 'POST', '/api/v1/tokens', { name: LONG })
  const sender = { from: `${LONG.toLowerCase()}@sandbox.mail.example.com`, subject: LONG.repeat(4), text: 'Hello' }
  await ask(page, 'POST', '/api/v1/emails', { ...sender, to: `${LONG.toLowerCase()}@${PENDING}` })
  await ask(page, 'POST', '/api/v1/me/message-views', { name: `View ${LONG}`, filters: FILTERS })
  await ask(page, 'POST', '/api/v1/suppressions', { email: `${LONG.toLowerCase()}@${PENDING}` })
}

test('the table names every route of the panel', async () => {
  const routes = await routesOfPanel()
  expect(routes.length).toBeGreaterThan(40)
  expect(routes).toEqual(Object.keys(pagesOf(NO_IDS)).toSorted())
})

const CASES = Object.entries(pagesOf(NO_IDS)).flatMap(([route, addresses]) =>
  [...addresses, ...(MORE[route] ?? [])].map((_, index) => [route, index] as const),
)

const addressOf = (route: string, index: number) =>
  [...(pagesOf(ids)[route] ?? []), ...(MORE[route] ?? [])][index] ?? expect.fail('no such address')

/** Titles of the document in English, by route and number of its address. */
const titles = new Map<string, string>()

test.each(CASES)('%s (%i) fits into every width', async (route, index) => {
  const { page } = visitor
  await open(page, addressOf(route, index))
  await picture(page, 'width', `${route}-${index}`.replaceAll(/\W+/g, '-'))
  titles.set(`${route} ${index}`, await page.title())
  await expectFitting(page)
})

/** Routes whose title is the name of a record, the same in every language. */
const NAMED_BY_RECORD = new Set([
  ...['/messages/$id', '/domains/$id', '/templates/$id', '/webhooks/$id', '/apps/$key/users/$id'],
  ...['/apps/$key/switches/$name', '/apps/$key/webhooks/$id'],
])
const routeOf = (name: string) => name.split(' ')[0] ?? ''

test('every route has a title of its own', () => {
  expect([...titles.values()].filter(title => !/^\S.* · Postwright$/.test(title))).toEqual([])
  const fixed = [...titles].filter(([name]) => !NAMED_BY_RECORD.has(routeOf(name)))
  const routesOf = Map.groupBy(fixed, ([, title]) => title)
  const shared = [...routesOf].filter(([, named]) => new Set(named.map(([name]) => routeOf(name))).size > 1)
  expect(shared.map(([title, named]) => [title, ...named.map(([name]) => name)])).toEqual([])
})

describe('in Chinese', () => {
  let reader: Visitor
  beforeAll(async () => {
    reader = await signedIn(browser, service.url, service.admin, { language: 'zh-CN', width: 390 })
  })
  afterAll(() => reader?.leave())

  test.each(CASES)('%s (%i) fits into a phone and names itself in the title', async (route, index) => {
    const { page } = reader
    const name = `${route} ${index}`
    await open(page, addressOf(route, index))
    await picture(page, 'width-zh', name.replaceAll(/\W+/g, '-'))
    const title = await page.title()
    expect(title).toMatch(/^\S.* · Postwright$/)
    if (NAMED_BY_RECORD.has(routeOf(name))) expect(title).toBe(titles.get(name))
    else expect(title).not.toBe(titles.get(name))
    await expectFitting(page, [390])
  })
})

/** What {@link wrapped} needs of an element. */
interface ShownTime {
  textContent: string
  firstChild: object
  ownerDocument: {
    createRange(): { selectNodeContents(node: object): void; getClientRects(): { length: number } }
  }
}

/** Texts of times that take more than one line. Runs in the page. */
const wrapped = (times: ShownTime[]) =>
  times
    .filter(({ firstChild, ownerDocument }) => {
      const text = ownerDocument.createRange()
      text.selectNodeContents(firstChild)
      return text.getClientRects().length > 1
    })
    .map(({ textContent }) => textContent)

test.each([
  ['/messages', labels.messages.title, [labels.messages.subject], [labels.messages.from, labels.messages.to]],
  [
    '/tokens',
    labels.access.tokensTitle,
    [labels.access.expires, labels.ui.lastUsed],
    [labels.access.scopes, labels.members.madeBy],
  ],
  [
    '/apps/shop/subscriptions',
    labels.subs.listTitle,
    [labels.subs.end],
    [labels.subs.price, labels.subs.method, labels.subs.renews],
  ],
  ['/audit', labels.account.auditTitle, [labels.account.target], [labels.account.address]],
])(
  '%s has every value in sight on a small laptop: as a column or as a line of one',
  async (path, name, kept, lines) => {
    const { page } = visitor
    await open(page, path)
    const table = page.getByRole('region', { name, exact: true }).last().getByRole('table')
    const row = table.getByRole('row').nth(1)
    const heading = (label: string) => table.getByRole('columnheader', { name: label, exact: true })
    const line = (label: string) =>
      row
        .locator('.pw-line')
        .filter({ has: page.getByText(`${label}${labels.label.separator}`.trim(), { exact: true }) })
    await page.setViewportSize({ width: 1024, height: 900 })
    await line(lines[0] ?? '').waitFor()
    for (const label of lines)
      expect([label, await heading(label).count(), await line(label).count()]).toEqual([label, 0, 1])
    for (const label of kept) expect([label, await heading(label).count()]).toEqual([label, 1])
    expect(await row.locator('time').evaluateAll(wrapped)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await line(lines[0] ?? '').waitFor({ state: 'detached' })
    for (const label of [...lines, ...kept]) expect([label, await heading(label).count()]).toEqual([label, 1])
    await expectFitting(page, [1280])
  },
)

test('the menu of a row stays in sight where its table is scrolled', async () => {
  const { page } = visitor
  await open(page, '/tokens')
  await page.setViewportSize({ width: 1024, height: 900 })
  const area = page.getByRole('region', { name: labels.access.tokensTitle, exact: true }).last()
  // A table that is wider than any window.
  await area
    .getByRole('table')
    .evaluate((table: { setAttribute(name: string, value: string): void }) =>
      table.setAttribute('style', 'width: 2000px'),
    )
  const button = area.getByRole('row').nth(1).getByRole('button').last()
  const [outer, inner] = [await area.boundingBox(), await button.boundingBox()]
  expect(inner?.x).toBeGreaterThan(outer?.x ?? 9999)
  expect((inner?.x ?? 9999) + (inner?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0))
  await button.click()
  await page.getByRole('menuitem').first().waitFor()
  await page.keyboard.press('Escape')
})

test('pages that take the place of another one have a title, too', async () => {
  const { page } = visitor
  await open(page, '/domains')
  await page.goto('/nowhere')
  await page.getByRole('heading', { level: 1, name: labels.ui.goneTitle }).waitFor()
  expect(await page.title()).toBe(`${labels.ui.goneTitle} · Postwright`)
})

test('the header of a phone keeps its buttons beside the longest page', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 390, height: 900 })
  await open(page, `/domains/${PENDING}`)
  for (const name of [labels.ui.openMenu, labels.ui.language]) {
    const box = await page.getByRole('button', { name }).boundingBox()
    expect((box?.x ?? 999) + (box?.width ?? 0), name).toBeLessThanOrEqual(390)
  }
})

test('opened parts of a domain fit, and its advice does not repeat the key', async () => {
  const { page } = visitor
  await open(page, `/domains/${PENDING}`)
  const records = page.getByRole('region', { name: labels.dns.records })
  await records.locator('summary').click()
  await expectFitting(page)
  for (const advice of await records.locator('.pw-advice').allInnerTexts())
    expect(advice).not.toContain(KEY.slice(20, 60))
  await records.getByText(labels.dns.addThis).first().waitFor()
})

test.each([
  ['the sign-in page', '/sign-in'],
  ['a page that does not exist', `/${LONG}${LONG}`],
])('%s fits for visitors, too', async (_, path) => {
  const { page, leave } = await browser.visit(service.url)
  await page.goto(path)
  await page.locator('h1').first().waitFor()
  await expectFitting(page)
  await leave()
})
