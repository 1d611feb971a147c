/** Receivers that cannot authenticate a domain, on the page of the domain, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addRefusals } from '../../services/mail/domains/rules/authentication-refusals.ts'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const texts = { en: english, 'zh-CN': chinese.texts }
const REPLY = "550 5.7.26 Unauthenticated email is not accepted due to domain's DMARC policy <b>x</b>"
let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { _id } = await giveUser(service.mongo.db, { username: 'owner' })
  const now = new Date()
  const refused = { site: 'google', code: 550, enhanced: '5.7.26', text: REPLY, last_at: now, count: 4 }
  const authentication = { revision: 'r', last_at: now, refusals: addRefusals([], [refused], now) }
  const verified = { status: 'verified', verified_by: 'dns' } as const
  await giveDomain(service.mongo.db, _id, 'refused.example', { ...verified, authentication })
  await giveDomain(service.mongo.db, _id, 'fine.example', verified)
})

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language].authentication

  test('a domain shows who refuses its mail, how often, and what to do; another one shows nothing', async () => {
    const login = { username: 'owner', password: PASSWORD }
    const { page, complaints, leave } = await signedIn(browser, service.url, login, { language })
    await open(page, '/domains/refused.example')
    await page.getByText(labels.title).waitFor()
    const row = page.getByRole('region', { name: 'google' })
    await row.getByText(REPLY).waitFor()
    await row.getByText(labels.counts.replace('{{day}}', '4').replace('{{week}}', '4')).waitFor()
    await row.getByText(texts[language]['authentication.fix_alignment'] ?? '').waitFor()
    await picture(page, 'authentication-refusals', language)
    await open(page, '/domains/fine.example')
    await page.getByText(catalogues[language].dns.records).waitFor()
    expect(await page.getByText(labels.title).count()).toBe(0)
    expect(complaints).toEqual([])
    await leave()
  })
})
