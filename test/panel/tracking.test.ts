/** What of a domain's mail is tracked: the card on the page of the domain, with its note on privacy, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findDomainById } from '../../services/mail/domains/store/domains.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { until } from '../support/time/until.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 180_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]

  test('the card says what is recorded, and turns tracking on and off', async () => {
    const { db } = service.mongo
    const username = `owner-${language.toLowerCase()}`
    const { _id: user } = await giveUser(db, { username })
    const name = `${language.toLowerCase()}.example`
    const { _id } = await giveDomain(db, user, name, { status: 'verified', verified_by: 'dns' })
    const stored = async () => (await findDomainById(db, _id))?.tracking
    const login = { username, password: PASSWORD }
    const { page, complaints, leave } = await signedIn(browser, service.url, login, { language })
    await open(page, `/domains/${name}`)
    const card = page.getByRole('region', { name: labels.tracking.title })
    await card.getByText(labels.tracking.privacy).waitFor()
    const clicks = card.getByRole('switch', { name: labels.tracking.clicks })
    const save = card.getByRole('button', { name: labels.ui.save })
    expect(await clicks.isChecked()).toBe(false)

    await clicks.check({ force: true })
    await save.click()
    await until(async () => (await stored())?.clicks === true)
    expect(await stored()).toEqual({ opens: false, clicks: true })
    await page.reload()
    await card.getByText(labels.tracking.privacy).waitFor()
    expect(await clicks.isChecked()).toBe(true)
    expect(await card.getByRole('switch', { name: labels.tracking.opens }).isChecked()).toBe(false)
    await picture(page, 'tracking', language)

    await clicks.uncheck({ force: true })
    await save.click()
    await until(async () => !(await stored())?.clicks)
    expect(complaints).toEqual([])
    await leave()
  })
})
