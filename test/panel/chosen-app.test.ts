/** The app that is worked on is part of the address: the menu keeps it, and old addresses lead to it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, holdRequests, open, picture, signedIn } from './support/user-actions.ts'

const labels = catalogues.en
const APPS = ['alpha', 'beta'] as const

let service: PanelService
let browser: TestBrowser
let visitor: Visitor
let page: Page

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  visitor = await signedIn(browser, service.url, service.admin)
  page = visitor.page
  await open(page, '/subscriptions/plans')
  await page.getByText(labels.nav.noApps).waitFor()
  for (const key of APPS) {
    await ask(page, 'POST', '/subscription-api/app_manage', { app_name: `App ${key}`, app_key: key })
    const plan = { name: `Gold of ${key}`, price: '1.00', duration: 30, features: '{"features":[]}' }
    await ask(page, 'POST', `/subscription-api/subscription_plan?app_key=${key}`, plan)
  }
}, 400_000)

afterAll(async () => {
  await visitor?.leave()
  await browser?.stop()
  await service?.stop()
})

const menu = () => page.getByRole('navigation', { name: labels.ui.menu })
const entry = (label: string) => menu().getByRole('link', { name: label, exact: true })
const switcher = () => page.getByRole('combobox', { name: labels.nav.app })
const path = () => new URL(page.url()).pathname

test('the menu keeps the app: no entry shows the data of another one', async () => {
  await open(page, '/apps/beta')
  await entry(labels.nav.plans).click()
  await page.getByRole('cell', { name: 'Gold of beta', exact: true }).waitFor()
  expect(await page.getByRole('cell', { name: 'Gold of alpha', exact: true }).count()).toBe(0)
  expect(path()).toBe('/apps/beta/plans')
  for (const [label, place] of [
    [labels.nav.subscribers, '/apps/beta/users'],
    [labels.nav.subscriptionList, '/apps/beta/subscriptions'],
    [labels.nav.switches, '/apps/beta/switches'],
    [labels.nav.changes, '/apps/beta/changes'],
    [labels.nav.statistics, '/apps/beta'],
  ] as const) {
    await entry(label).click()
    await page.waitForURL(`**${place}`)
    await entry(label).and(page.locator('[aria-current=page]')).waitFor()
    await expect.poll(() => switcher().inputValue()).toBe('App beta')
    await page.locator('#content').getByText('App beta', { exact: true }).waitFor()
  }
  expect(await menu().locator('[aria-current=page]').count()).toBe(1)
})

test('it is still chosen after a page without an app, and after a reload', async () => {
  await entry(labels.nav.domains).click()
  await page.waitForURL('**/domains')
  await page.reload()
  await menu().getByRole('button', { name: labels.nav.subscriptions, exact: true }).click()
  await entry(labels.nav.plans).click()
  await page.getByRole('cell', { name: 'Gold of beta', exact: true }).waitFor()
})

test.each([
  ['its code', /assets\/app-switcher/],
  ['the list of apps', /subscription-api\/app_manage/],
])(
  'while %s is loading, the entries of the app neither move nor are replaced, and lead to the chosen app',
  async (_, url) => {
    await open(page, '/domains')
    const release = await holdRequests(page, url)
    await page.reload()
    const plans = await entry(labels.nav.plans).elementHandle()
    const before = await plans?.boundingBox()
    expect(await plans?.getAttribute('href')).toBe('/subscriptions/plans')
    release()
    await expect.poll(() => entry(labels.nav.plans).getAttribute('href')).toBe('/apps/beta/plans')
    await expect.poll(() => switcher().inputValue()).toBe('App beta')
    expect(await plans?.boundingBox()).toEqual(before)
    await plans?.click()
    await page.getByRole('cell', { name: 'Gold of beta', exact: true }).waitFor()
    await page.unroute(url)
  },
)

test('another app opens the same page of that app, without filters of the former one', async () => {
  await open(page, '/apps/beta/plans?page=2')
  await switcher().click()
  await page.getByRole('option', { name: 'App alpha' }).click()
  await page.getByRole('cell', { name: 'Gold of alpha', exact: true }).waitFor()
  expect(page.url()).toBe(`${service.url}/apps/alpha/plans`)
  await picture(page, 'chosen-app')
  await page.goBack()
  await page.waitForURL('**/apps/beta/plans?page=2')
})

test('Enter after typing in the choice of the app opens the first one that matches', async () => {
  await open(page, '/apps/alpha/plans')
  await expect.poll(() => switcher().inputValue()).toBe('App alpha')
  await switcher().click()
  await page.getByRole('option', { name: 'App alpha' }).waitFor()
  await switcher().fill('bet')
  await switcher().press('Enter')
  await page.getByRole('cell', { name: 'Gold of beta', exact: true }).waitFor()
  expect(path()).toBe('/apps/beta/plans')
})

test.each([
  ['/subscriptions?app=beta', '/apps/beta'],
  ['/subscriptions?app=beta&days=7', '/apps/beta?days=7'],
  ['/subscriptions/plans?app=beta', '/apps/beta/plans'],
  ['/subscriptions/users?app=beta&search=Ada', '/apps/beta/users?search=Ada'],
  ['/subscriptions/list?app=beta&status=1', '/apps/beta/subscriptions?status=1'],
  ['/subscriptions/switches?app=beta', '/apps/beta/switches'],
  ['/subscriptions/changes?app=beta&subscription=7', '/apps/beta/changes?subscription=7'],
  ['/subscriptions/apps', '/apps'],
  ['/subscriptions/apps/2', '/apps/beta/settings'],
  // Without an app: the one that was opened last.
  ['/subscriptions/plans', '/apps/beta/plans'],
])('the old address %s leads to %s', async (old, present) => {
  await page.goto(old)
  const decoded = () => decodeURIComponent(page.url().replace(service.url, '')).replaceAll('"', '')
  await expect.poll(decoded, { timeout: 30_000 }).toBe(present)
  await page.locator('h1').waitFor()
})

test('an unknown app or page is reported, not replaced', async () => {
  await open(page, '/subscriptions/plans?app=gamma')
  await page.getByText(labels.subs.noSuchApp).waitFor()
  expect(path()).toBe('/apps/gamma/plans')
  await open(page, '/subscriptions/nothing')
  await page.getByRole('heading', { name: labels.ui.goneTitle }).waitFor()
  expect(visitor.complaints).toEqual([])
})
