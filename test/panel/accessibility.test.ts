/** Every page with data: axe rules in both colour schemes, no horizontal scrolling on a phone, and a screenshot. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings } from './support/accessibility-findings.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { PAGES } from './support/page-list.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { REFUSED, seedStored } from './support/seed-database.ts'
import { firstMessage, seed } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

/** Placeholder for the path of the first message. */
const MESSAGE = '/messages/one'

type Catalogue = (typeof catalogues)['en']

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  const html = '<h1>Thank you</h1><p>Your order has left our house.</p>'
  await seed(page, { subject: 'Your order is on its way', html, thing: 'Paper Shop' })
  await seedStored(service, 'The mailbox does not exist')
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
  ['/domains/example.com', labels => labels.domains.giveUp],
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
  ['/apps/shop/switches', labels => labels.subs.newSwitch],
  ['/subscriptions/admins', labels => labels.subs.newAdmin],
]

// Every page in both colour schemes and languages, on desktop and phone.
describe.each([
  ['light', 'en', 1280],
  ['dark', 'zh-CN', 360],
  ['light', 'zh-CN', 1280],
  ['dark', 'en', 360],
] as const)('%s, %s, %i pixels wide', (scheme, language, width) => {
  let visitor: Visitor
  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { scheme, language, width })
  })
  afterAll(() => visitor?.leave())

  test.each([
    ...PAGES,
    '/domains/example.com',
    '/domains/own.example',
    '/apps/shop/settings',
    `/messages/${REFUSED}`,
    MESSAGE,
  ])('%s has no finding, no complaint and does not scroll sideways', async path => {
    visitor.complaints.length = 0
    const address = path === MESSAGE ? `/messages/${await firstMessage(visitor.page)}` : path
    await open(visitor.page, address)
    await picture(visitor.page, nameOf(path), scheme, language, width)
    expect(await findings(visitor.page)).toEqual([])
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    expect(visitor.complaints).toEqual([])
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
