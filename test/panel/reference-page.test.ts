/** `/docs` of both APIs in a real browser: accessible, without scripts, usable by keyboard, in two languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPanelApi } from '../support/http/panel-api.ts'
import { startSubscriptionApi } from '../support/subscriptions/subscription-api.ts'
import { findings } from './support/accessibility-findings.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'

type Api = { url: string; stop(): Promise<void> }
let apis: { mail: Api; subscriptions: Api }
let browser: TestBrowser
beforeAll(async () => {
  const [mail, subscriptions, started] = await Promise.all([startPanelApi(), startSubscriptionApi(), startBrowser()])
  apis = { mail, subscriptions }
  browser = started
}, 120_000)
afterAll(async () => {
  await browser?.stop()
  await apis?.mail.stop()
  await apis?.subscriptions.stop()
})

const APIS = ['mail', 'subscriptions'] as const

describe.each(APIS)('of the %s API', api => {
  test.each([
    ['light', 'en', 1280],
    ['dark', 'zh-CN', 360],
    ['light', 'zh-CN', 360],
    ['dark', 'en', 1280],
  ] as const)(
    'has no finding, no complaint and does not scroll sideways: %s, %s, %i pixels',
    async (scheme, language, width) => {
      const { page, complaints, leave } = await browser.visit(apis[api].url, { scheme, language, width })
      await page.goto('/docs')
      expect(await page.locator('html').getAttribute('lang')).toBe(language)
      expect(await findings(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
      expect(complaints).toEqual([])
      await leave()
    },
    120_000,
  )

  test('loads nothing but its styles, and allows no script', async () => {
    const { page, leave } = await browser.visit(apis[api].url)
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    const response = await page.goto('/docs')
    expect(asked).toEqual(['/docs', '/docs/reference.css'])
    expect(response?.headers()['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    await leave()
  })
})

test('is read by keyboard: to the operations, to a search, and back to all', async () => {
  const { page, leave } = await browser.visit(apis.mail.url)
  await page.goto('/docs')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('operations')
  await page.getByRole('searchbox').focus()
  await page.keyboard.type('importsuppressions')
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  expect(await page.getByRole('status').textContent()).toBe('Operations found: 1')
  await page.getByRole('link', { name: 'POST importSuppressions' }).press('Enter')
  await page.waitForURL(url => url.hash === '#importSuppressions')
  await page.getByRole('link', { name: 'All operations' }).press('Enter')
  await page.locator('#sendEmail').waitFor()
  await leave()
})

test('changes its language and keeps the search', async () => {
  const { page, leave } = await browser.visit(apis.mail.url)
  await page.goto('/docs?q=webhook')
  const found = await page.locator('main pre').count()
  await page.getByRole('link', { name: '简体中文' }).click()
  await page.getByRole('button', { name: '搜索' }).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('webhook')
  expect(await page.locator('main pre').count()).toBe(found)
  await leave()
})

describe('the answer', () => {
  test.each([
    ['/docs', { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' }, 'zh-CN'],
    ['/docs', { 'accept-language': 'zh-TW' }, 'zh-CN'],
    ['/docs', { 'accept-language': 'de' }, 'en'],
    ['/docs?lang=en', { 'accept-language': 'zh-CN' }, 'en'],
    ['/docs?lang=zh-CN', { 'accept-language': 'en' }, 'zh-CN'],
    ['/docs?lang=fr&lang=en', { 'accept-language': 'en' }, 'en'],
  ])('to %s with %j is in %s', async (path, headers, language) => {
    for (const api of APIS) {
      const html = await (await fetch(`${apis[api].url}${path}`, { headers })).text()
      expect(/<html lang="([^"]*)"/.exec(html)?.[1]).toBe(language)
    }
  })

  test.each([
    ['two searches', '?q=a&q=b'],
    ['a long search', `?q=${'x'.repeat(6_000)}`],
    ['a search of blanks', '?q=%20%20'],
    ['bytes that are no text', '?q=%00%FF%3Cscript%3E'],
  ])('to %s is a page without anything active', async (_, query) => {
    const response = await fetch(`${apis.mail.url}/docs${query}`)
    expect(response.status).toBe(200)
    expect(await response.text()).not.toMatch(/<script|onerror|x{101}/)
  })

  test('to other methods is 405', async () => {
    for (const api of APIS) {
      const response = await fetch(`${apis[api].url}/docs`, { method: 'POST' })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'HEAD, GET'])
    }
  })
})
