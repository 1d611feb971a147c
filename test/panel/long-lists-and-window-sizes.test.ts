/** Lists of more than one page, and window sizes between phone and desktop. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const labels = catalogues.en

describe('with 201 apps', () => {
  let visitor: Visitor
  let page: Page
  const rows = () => page.getByRole('row').filter({ has: page.getByRole('cell') })

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin)
    page = visitor.page
    for (let n = 1; n <= 201; n++)
      await ask(page, 'POST', '/subscription-api/app_manage', { app_name: `App no. ${n}`, app_key: `app-${n}` })
  })
  afterAll(() => visitor?.leave())

  test.each([
    [undefined, 100, 'app-1', 'app-100'],
    [2, 100, 'app-101', 'app-200'],
    [3, 1, 'app-201', 'app-201'],
  ])('page %s of the list has its %i, and is kept in the address', async (number, count, first, last) => {
    await open(page, `/apps${number ? `?page=${number}` : ''}`)
    await page.getByRole('link', { name: first, exact: true }).waitFor()
    expect(await rows().count()).toBe(count)
    expect(await rows().last().textContent()).toContain(last)
  })

  test('pages can be changed, and a reload keeps the page', async () => {
    await open(page, '/apps')
    await page.getByRole('button', { name: 'Page 3' }).click()
    await page.getByRole('link', { name: 'app-201' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'app-201' }).waitFor()
    await page.getByRole('button', { name: 'Page 1', exact: true }).click()
    await page.getByRole('link', { name: 'app-1', exact: true }).waitFor()
  })

  test('the 201st app can be selected', async () => {
    await open(page, '/apps/app-1/plans')
    const choice = page.getByRole('combobox', { name: labels.nav.app })
    await choice.fill('201')
    await page.getByRole('option', { name: 'App no. 201' }).click()
    await page.waitForURL('**/apps/app-201/plans')
    await ask(page, 'POST', '/subscription-api/subscription_plan?app_key=app-201', {
      name: 'Monthly of the last',
      price: '1.00',
      duration: 30,
      features: JSON.stringify({ features: [] }),
    })
    await open(page, '/apps/app-201/plans')
    await page.getByRole('cell', { name: 'Monthly of the last', exact: true }).waitFor()
    // The choice is loaded apart from the page.
    await expect.poll(() => choice.inputValue()).toBe('App no. 201')
  })

  test('a role for the 150th app can be granted', async () => {
    await open(page, '/subscriptions/admins')
    await page.getByRole('button', { name: labels.subs.newAdmin }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(labels.account.username).fill('helper')
    await dialog.getByRole('textbox', { name: labels.account.password }).fill('a long enough password 1')
    await dialog.getByRole('combobox', { name: labels.subs.appsTitle }).fill('no. 150')
    await page.getByRole('option', { name: 'App no. 150' }).click()
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: labels.subs.newAdmin }).click()
    await dialog.waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: 'helper' })
    await row.getByText('app-150').waitFor()
  })

  test('an unknown app is not replaced by another one', async () => {
    await open(page, '/apps/app-999/plans')
    await page.getByText(labels.subs.noSuchApp).waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
    await page.getByRole('combobox', { name: labels.nav.app }).fill('201')
    await page.getByRole('option', { name: 'App no. 201' }).click()
    await page.getByRole('cell', { name: 'Monthly of the last', exact: true }).waitFor()
  })
})

describe.each([
  [900, 720],
  [600, 720],
  [991, 600],
  [1280, 768],
])("an admin's menu in a window of %i by %i", (width, height) => {
  test.each([
    ['/', []],
    ['/admin/queues', [labels.nav.operator]],
    ['/apps/app-1/plans', [labels.nav.subscriptions]],
  ] as const)('on %s shows its groups, and the entries of those that are open, at once', async (path, opened) => {
    const { page, leave } = await signedIn(browser, service.url, service.admin, { width, height })
    await open(page, path)
    const opener = page.getByRole('button', { name: labels.ui.openMenu })
    if (await opener.isVisible()) await opener.click()
    const menu = page.getByRole('navigation', { name: labels.ui.menu })
    await menu.waitFor()
    // The choice of the app is loaded after the first render, and is part of the menu.
    if (path.startsWith('/apps')) await menu.getByRole('combobox', { name: labels.nav.app }).waitFor()
    const groups = menu.locator('button[aria-expanded]')
    expect(await groups.count()).toBe(3)
    for (const name of [labels.nav.subscriptions, labels.nav.operator]) {
      const state = await menu.getByRole('button', { name, exact: true }).getAttribute('aria-expanded')
      expect([name, state]).toEqual([name, String(opened.some(one => one === name))])
    }
    const places = menu.getByRole('link')
    expect(await places.count()).toBeGreaterThan(path === '/' ? 10 : 18)
    for (const place of [...(await places.all()), ...(await groups.all())]) {
      const box = await place.boundingBox()
      expect(box, await place.innerText()).not.toBeNull()
      expect((box?.y ?? 0) + (box?.height ?? 0), await place.innerText()).toBeLessThanOrEqual(height)
      expect((box?.x ?? 0) + (box?.width ?? 0), await place.innerText()).toBeLessThanOrEqual(width)
    }
    await leave()
  })
})
