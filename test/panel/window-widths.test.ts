/** Every route of the panel, filled with long names and texts, fits into the widths of phones, laptops and desktops. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { sentence } from '../../services/platform/sentences/sentence.ts'
import { giveCredential, giveDomain, giveMembership, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { expectFitting } from './support/overflow.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { REFUSED, seedStored } from './support/seed-database.ts'
import { ask, seed } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const labels = catalogues.en
/** One word that nothing may break by itself. */
const LONG = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk'
const PENDING = 'a-rather-long-label-for-a-subdomain.of-a-company-with-a-long-name.example.com'
const KEY = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)}`

/** Ids of the records that some addresses name. */
const ids = { template: '', webhook: '' }

/** Addresses of each route. */
const ADDRESSES: Readonly<Record<string, (() => string)[]>> = {
  '/sign-in': [],
  '/forgot-password': [() => '/forgot-password'],
  '/oidc-callback': [() => '/oidc-callback'],
  '/reset-password': [() => '/reset-password'],
  '/accept-invitation': [() => '/accept-invitation'],
  '/join': [() => '/join'],
  '/confirm-email': [() => '/confirm-email'],
  '/': [() => '/'],
  '/messages': [() => '/messages', () => `/messages?q=${LONG}${LONG}`],
  '/messages/$id': ['timeline', 'preview', 'source', 'facts'].map(tab => () => `/messages/${REFUSED}?tab=${tab}`),
  '/suppressions': [() => '/suppressions'],
  '/inbox': [() => '/inbox'],
  '/send': [() => '/send'],
  '/templates': [() => '/templates'],
  '/templates/$id': [() => `/templates/${ids.template}`],
  '/start': [() => '/start'],
  '/domains': [() => '/domains'],
  '/domains/$id': [() => `/domains/${PENDING}`, () => '/domains/own.example', () => '/domains/example.com'],
  '/domains/$id/reports': [() => '/domains/sandbox.mail.example.com/reports'],
  '/smtp': [() => '/smtp'],
  '/tokens': [() => '/tokens'],
  '/webhooks': [() => '/webhooks'],
  '/webhooks/$id': [() => `/webhooks/${ids.webhook}`],
  '/dns-accounts': [() => '/dns-accounts'],
  '/limits': [() => '/limits'],
  '/members': [() => '/members'],
  '/audit': [() => '/audit'],
  '/settings': [() => '/settings'],
  '/admin/health': [() => '/admin/health'],
  '/admin/queues': [() => '/admin/queues'],
  '/admin/addresses': [() => '/admin/addresses'],
  '/admin/certificates': [() => '/admin/certificates'],
  '/admin/resources': [() => '/admin/resources'],
  '/admin/domains': [() => '/admin/domains'],
  '/admin/users': [() => '/admin/users'],
  '/apps': [() => '/apps'],
  '/apps/$key': [() => '/apps/shop'],
  '/apps/$key/settings': [() => '/apps/shop/settings'],
  '/apps/$key/users': [() => '/apps/shop/users'],
  '/apps/$key/plans': [() => '/apps/shop/plans'],
  '/apps/$key/subscriptions': [() => '/apps/shop/subscriptions'],
  '/apps/$key/switches': [() => '/apps/shop/switches'],
  '/apps/$key/changes': [() => '/apps/shop/changes'],
  // Addresses of earlier releases lead to those above.
  '/subscriptions': [],
  '/subscriptions/$': [],
  '/subscriptions/apps/$id': [],
  '/subscriptions/admins': [() => '/subscriptions/admins'],
}

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
  await ask(page, 'POST', '/api/v1/suppressions', { email: `${LONG.toLowerCase()}@${PENDING}` })
  const made = async (path: string, body: object) => ((await ask(page, 'POST', path, body)) as { id: string }).id
  ids.template = await made('/api/v1/templates', {
    name: LONG.toLowerCase(),
    subject: LONG.repeat(3),
    html: `<p>${LONG}</p>`,
  })
  const url = `https://hooks.example.com/${LONG.repeat(4)}`
  ids.webhook = await made('/api/v1/webhooks', { name: LONG, url, events: ['email.delivered'] })
}

test('the table names every route of the panel', async () => {
  const source = await readFile(join(import.meta.dirname, '../../services/panel/app/router.tsx'), 'utf8')
  const routes = [...source.matchAll(/\bpath: '([^']+)'/g)].map(match => match[1])
  expect(routes.length).toBeGreaterThan(40)
  expect(routes.toSorted()).toEqual(Object.keys(ADDRESSES).toSorted())
})

const CASES = Object.entries(ADDRESSES).flatMap(([route, addresses]) =>
  addresses.map((address, index) => [`${route} (${index + 1})`, address] as const),
)

test.each(CASES)('%s fits into every width', async (name, address) => {
  const { page } = visitor
  await open(page, address())
  await picture(page, 'width', name.replaceAll(/\W+/g, '-'))
  await expectFitting(page)
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
