/** Suppressions in the panel: add, find, import, export and remove. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../services/panel/state/preferences.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const { suppressions: labels, ui } = catalogues[language]
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    visitor = await signedIn(browser, service.url, service.admin, { language })
    page = visitor.page
    expect(LANGUAGES[language]).toBeDefined()
  })
  afterAll(() => visitor?.leave())

  const name = `ann-${language.toLowerCase()}@example.net`
  const row = (email: string) => page.getByRole('row').filter({ hasText: email })

  test('an address is added, and an invalid one is refused at its field', async () => {
    await open(page, '/suppressions')
    await page.getByRole('button', { name: labels.add }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: labels.address }).fill('nobody')
    await dialog.getByRole('button', { name: labels.add }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByRole('textbox', { name: labels.address }).fill(name)
    await dialog.getByRole('button', { name: labels.add }).click()
    await row(name).getByText(labels.reasons.manual).waitFor()
    await picture(page, 'suppressions', language)
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])
  })

  test('a file is imported with its errors, and is found by its addresses', async () => {
    await page.getByRole('button', { name: labels.import }).click()
    const dialog = page.getByRole('dialog')
    const rows = Array.from({ length: 10_500 }, (_, n) => `${language.toLowerCase()}-${n}@example.net,bounce`)
    rows[10_100] = 'nobody,bounce'
    await dialog.locator('input[type=file]').setInputFiles({
      ...{ name: 'bounces.csv', mimeType: 'text/csv' },
      buffer: Buffer.from(`email,reason\n${rows.join('\n')}\n`),
    })
    await dialog.getByRole('button', { name: labels.import }).click()
    await dialog.getByText('10499').waitFor()
    await dialog.getByRole('cell', { name: '10102', exact: true }).waitFor()
    await dialog.getByRole('button', { name: ui.close }).last().click()
    await page.getByRole('textbox', { name: labels.address }).fill(`${language}-10499@example.net`)
    await row('-10499@').getByText(labels.reasons.hard_bounce).waitFor()
    expect(visitor.complaints).toEqual([])
  })

  test('all are exported', async () => {
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: labels.export }).click()
    const text = await readFile(await (await download).path(), 'utf8')
    expect(text).toContain(`\r\n${name},manual,,api,,`)
  })

  test('one is removed', async () => {
    await open(page, `/suppressions?email=${name}`)
    await row(name).getByRole('button').click()
    await page.getByRole('menuitem', { name: labels.remove }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(labels.removeText.manual).waitFor()
    await dialog.getByRole('button', { name: labels.remove }).click()
    await page.getByText(labels.none).waitFor()
    expect(visitor.complaints).toEqual([])
  })
})
