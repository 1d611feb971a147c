/** Every page, with data and empty, in both languages and colour schemes: axe rules, no scrolling sideways, a screenshot. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { findings } from './support/accessibility-findings.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { expectFitting } from './support/overflow.ts'
import { EMPTY_PAGES, type PageIds, pagesOf, routesOfPanel } from './support/page-list.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { seedStored } from './support/seed-database.ts'
import { seedRecords } from './support/seed-records.ts'
import { seed } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const NO_IDS: PageIds = { template: '', webhook: '', user: '', appWebhook: '' }
let ids = NO_IDS
const CASES = Object.entries(pagesOf(NO_IDS)).flatMap(([route, addresses]) =>
  addresses.map((_, index) => [route, index] as const),
)

type Catalogue = (typeof catalogues)['en']

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const html = '<h1>Thank you</h1><p>Your order has left our house.</p>'
  await seed(page, { subject: 'Your order is on its way', html, thing: 'Paper Shop' })
  await seedStored(service, 'The mailbox does not exist')
  ids = await seedRecords(service, page, { word: 'welcome', text: 'Hello Ada' })
  await leave()
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** File name of a page's screenshot. */
function nameOf(path: string): string {
  return path.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'overview'
}

/** Dialogs: path of the page and label of the button that opens them. */
const DIALOGS: readonly [path: string, button: (labels: Catalogue) => string][] = [
  ['/domains', labels => labels.domains.add],
  ['/domains/example.com', labels => labels.dns.rotate],
  ['/domains/example.com', labels => labels.domains.remove],
  ['/smtp', labels => labels.access.newLogin],
  ['/tokens', labels => labels.access.newToken],
  ['/suppressions', labels => labels.suppressions.add],
  ['/suppressions', labels => labels.suppressions.import],
  ['/dns-accounts', labels => labels.dns.addAccount],
  ['/admin/users', labels => labels.operator.newUser],
  ['/apps', labels => labels.subs.newApp],
  ['/apps/shop/settings', labels => labels.ui.edit],
  ['/apps/shop/plans', labels => labels.subs.newPlan],
  ['/apps/shop/subscriptions', labels => labels.subs.grant],
  ['/apps/shop/subscriptions', labels => labels.subs.import],
  ['/subscriptions/admins', labels => labels.subs.newAdmin],
]

/** Each page is opened once for each language; its colour scheme and width are changed in place. */
const LOOKS = {
  en: [
    ['light', 1280],
    ['dark', 360],
  ],
  'zh-CN': [
    ['dark', 1280],
    ['light', 360],
  ],
} as const

async function examine(visitor: Visitor, language: keyof typeof LOOKS, name: string): Promise<void> {
  const { page } = visitor
  for (const [scheme, width] of LOOKS[language]) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: 900 })
    await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor()
    await picture(page, name, scheme, language, width)
    expect(await findings(page), `${scheme}, ${width}`).toEqual([])
    await expectFitting(page, [width])
  }
}

test('every route of the panel is examined', async () => {
  expect(await routesOfPanel()).toEqual(Object.keys(pagesOf(ids)).toSorted())
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  let visitor: Visitor
  let newcomer: Visitor
  beforeAll(async () => {
    const username = `new-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    visitor = await signedIn(browser, service.url, service.admin, { language })
    newcomer = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
  })
  afterAll(() => Promise.all([visitor?.leave(), newcomer?.leave()]))

  test.each(CASES)(
    '%s (%i) with content has no finding, no complaint and does not scroll sideways',
    async (route, index) => {
      visitor.complaints.length = 0
      const address = pagesOf(ids)[route]?.[index] ?? expect.fail('no such address')
      await open(visitor.page, address)
      await examine(visitor, language, nameOf(`${route}-${index}`))
      // The preview of a message without its body is answered with 404.
      expect(visitor.complaints.filter(text => route !== '/messages/$id' || !text.includes('404'))).toEqual([])
    },
  )

  test.each(EMPTY_PAGES)('%s without content neither', async path => {
    await open(newcomer.page, path)
    await examine(newcomer, language, `empty-${nameOf(path)}`)
  })
})

describe.each([
  ['light', 'en', 1280],
  ['dark', 'zh-CN', 360],
] as const)('dialogs in %s, %s, %i pixels wide', (scheme, language, width) => {
  let visitor: Visitor
  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { scheme, language, width })
  })
  afterAll(() => visitor?.leave())

  test.each(DIALOGS)('on %s', async (path, button) => {
    const { page } = visitor
    await open(page, path)
    const name = button(catalogues[language])
    await page.getByRole('button', { name, exact: true }).first().click()
    await page.getByRole('dialog').waitFor()
    await picture(page, `dialog-${nameOf(path)}-${name.replaceAll(' ', '-')}`, scheme, language, width)
    expect(await findings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

test('a notification has no findings', async () => {
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await open(page, '/apps/shop/users')
  await page.getByRole('row').nth(1).getByRole('button').click()
  await page.getByRole('menuitem', { name: catalogues.en.access.disable }).click()
  await page.getByText(catalogues.en.ui.saved).waitFor()
  expect(await findings(page)).toEqual([])
  await leave()
})

test.each(['light', 'dark'] as const)('the sign-in page has no findings in %s', async scheme => {
  const { page, leave } = await browser.visit(service.url, { scheme })
  await page.goto('/sign-in')
  await page.locator('form').waitFor()
  await picture(page, 'sign-in', scheme)
  expect(await findings(page)).toEqual([])
  await leave()
})
