/** User actions in the panel, in both languages; labels come from the catalogues. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { catalogue as en } from '../../../services/panel/i18n/en/index.ts'
import { catalogue as zh } from '../../../services/panel/i18n/zh-CN/index.ts'
import { LANGUAGES } from '../../../services/panel/state/preferences.ts'
import type { Look, TestBrowser, Visitor } from './browser.ts'

export const catalogues = { en, 'zh-CN': zh } as const

/** Signs in on the sign-in page and waits for the layout. */
export async function signIn(page: Page, login: { username: string; password: string }): Promise<void> {
  await page.locator('input[autocomplete=username]').fill(login.username)
  await page.locator('input[autocomplete=current-password]').fill(login.password)
  await page.locator('button[type=submit]').click()
  await page.locator('#content').waitFor()
}

/** A signed-in visitor with the given language, whatever the account's language was before. */
export async function signedIn(
  browser: TestBrowser,
  url: string,
  login: { username: string; password: string },
  look: Look = {},
): Promise<Visitor> {
  const visitor = await browser.visit(url, look)
  const { page } = visitor
  const language = look.language ?? 'en'
  await page.goto('/')
  await signIn(page, login)
  const spoken = (await page.locator('html').getAttribute('lang')) === 'zh-CN' ? 'zh-CN' : 'en'
  if (spoken !== language) {
    await page.getByRole('button', { name: catalogues[spoken].ui.language }).click()
    await page.getByRole('menuitem', { name: LANGUAGES[language] }).click()
    await page.locator(`html[lang=${language}]`).waitFor()
  }
  return visitor
}

/** Opens a page of the panel and waits until it has loaded. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.locator('h1').first().waitFor()
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
}

/** Holds the requests of a page to this URL from now on; the function lets them go on. */
export async function holdRequests(page: Page, url: string | RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async route => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Waits until what the page has received is rendered: two frames. */
export async function nextFrames(page: Page): Promise<void> {
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** Directory of screenshots, ignored by Git. */
const PICTURES = process.env.SCREENSHOTS ?? join(import.meta.dirname, '..', 'screenshots')

/** Takes a screenshot of the full page, or of the window while a dialog is open. */
export async function picture(page: Page, ...name: (string | number)[]): Promise<void> {
  await mkdir(PICTURES, { recursive: true })
  const fullPage = (await page.getByRole('dialog').count()) === 0
  await page.screenshot({ path: join(PICTURES, `${name.join('.')}.png`), fullPage })
}
