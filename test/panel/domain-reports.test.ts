/** Reports about a domain in the panel: added from a file, shown by day, by source and by reporter. */
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { dmarcXml, tlsReport } from '../support/mail/domain-reports.ts'
import { startBrowser, type TestBrowser, type Visitor } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const LANGUAGES = ['en', 'zh-CN'] as const
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService({ SENDING_IP: '203.0.113.1' }), startBrowser()])
}, 400_000)
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(LANGUAGES)('in %s', language => {
  const labels = catalogues[language]
  const zone = `reports-${language.toLowerCase()}.example`
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    const username = `owner-${language.toLowerCase()}`
    const user = await giveUser(service.mongo.db, { username })
    await giveDomain(service.mongo.db, user._id, zone)
    visitor = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    page = visitor.page
  })
  afterAll(() => visitor?.leave())

  const dialog = () => page.getByRole('dialog')
  async function add(name: string, content: Buffer | string): Promise<void> {
    if ((await dialog().count()) === 0) await page.getByRole('button', { name: labels.reports.add }).click()
    const buffer = Buffer.from(content)
    await dialog().locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
    await dialog().getByRole('button', { name: labels.reports.add, exact: true }).click()
  }
  const row = (table: string, text: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })

  test('the page is reached from the domain and explains what to do without reports', async () => {
    await open(page, `/domains/${zone}`)
    await page.getByRole('link', { name: labels.reports.link }).click()
    await page.getByText(labels.reports.noneDmarc).waitFor()
    await picture(page, 'reports-empty', language)
  })

  test('a file that is no report is refused with the reason', async () => {
    await add('r.xml', dmarcXml({ domain: 'other.example' }))
    const reason =
      language === 'en' ? `The report is about other.example, not about ${zone}.` : `该报告针对 other.example`
    await dialog().getByRole('alert').filter({ hasText: reason }).waitFor()
    expect(visitor.complaints.splice(0).filter(text => !text.includes('422'))).toEqual([])
  })

  test('a DMARC report shows who sends as the domain', async () => {
    const records = [
      { ip: '203.0.113.1', count: '1200' },
      { ip: '198.51.100.66', count: '34', dkim: 'fail', spf: 'fail', disposition: 'reject' },
    ]
    await add('r.xml.gz', gzipSync(dmarcXml({ domain: zone, records })))
    await row(labels.reports.sources, '203.0.113.1').getByText(labels.reports.verdict.ours, { exact: true }).waitFor()
    const forged = row(labels.reports.sources, '198.51.100.66')
    await forged.getByText(labels.reports.verdict.forged, { exact: true }).waitFor()
    if (language === 'zh-CN') await forged.getByText('SPF 和 DKIM 均未通过').waitFor()
    await row(labels.reports.reporters, 'receiver.example').waitFor()
    const byDay = page.getByRole('table', { name: labels.reports.byDay }).getByRole('row').last()
    await byDay.waitFor({ state: 'attached' })
    expect(await byDay.getByRole('cell').allInnerTexts()).toEqual(['1,200', '34'])
    await picture(page, 'reports-dmarc', language)
  })

  test('the same report again changes nothing, and says so', async () => {
    await page.reload()
    await row(labels.reports.sources, '203.0.113.1').waitFor()
    const records = [{ ip: '203.0.113.1', count: '1200' }]
    await add('again.xml', dmarcXml({ domain: zone, records }))
    await page.getByText(labels.reports.known.replace('{{organisation}}', 'receiver.example')).waitFor()
    await row(labels.reports.sources, '203.0.113.1').getByRole('cell', { name: '1,200' }).first().waitFor()
  })

  test('a TLS report opens the results of TLS', async () => {
    await add('r.json', JSON.stringify(tlsReport(zone)))
    await row(labels.reports.failures, 'certificate-expired').getByText(`mx1.mail.${zone}`).waitFor()
    expect(page.url()).toContain('kind=tls')
    await picture(page, 'reports-tls', language)
    await page.getByRole('radiogroup', { name: labels.reports.kind }).getByText(labels.reports.dmarc).click()
    await row(labels.reports.sources, '203.0.113.1').waitFor()
    expect(visitor.complaints.splice(0)).toEqual([])
  })
})
