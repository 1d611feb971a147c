/** What of a domain's mail is tracked: the card on the page of the domain, with its note on privacy, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findDomainById } from '../../services/mail/domains/store/domains.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { until } from '../support/time/until.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { builtPanel } from './support/built-panel.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

/** What the record of tracked links has to name. */
const HOST = 'app.mail.test'
let service: PanelService
let browser: TestBrowser
let url: string

beforeAll(async () => {
  // First, because others may take the port until the service has it, and a build takes long.
  await builtPanel()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const env = { APP_PORT: String(port), APP_BASE_URL: `http://${HOST}:${port}` }
  ;[service, browser] = await Promise.all([startPanelService(env), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]

  test('the card says what is recorded, and turns tracking and its DNS record on and off', async () => {
    const { db } = service.mongo
    const username = `owner-${language.toLowerCase()}`
    const { _id: user } = await giveUser(db, { username })
    const name = `${language.toLowerCase()}.example`
    const { _id } = await giveDomain(db, user, name, { status: 'verified', verified_by: 'dns' })
    const stored = async () => (await findDomainById(db, _id))?.tracking
    const login = { username, password: PASSWORD }
    const { page, complaints, leave } = await signedIn(browser, url, login, { language })
    await open(page, `/domains/${name}`)
    const card = page.getByRole('region', { name: labels.tracking.title })
    await card.getByText(labels.tracking.privacy).waitFor()
    const clicks = card.getByRole('switch', { name: labels.tracking.clicks })
    const save = card.getByRole('button', { name: labels.ui.save })
    // Optional records are folded until the note refers to one of them.
    const record = page.getByRole('region', {
      name: `${labels.dns.purpose.tracking} links.${name}`,
      includeHidden: true,
    })
    expect([await clicks.isChecked(), await record.count()]).toEqual([false, 0])

    await clicks.check({ force: true })
    await save.click()
    await until(async () => (await stored())?.clicks === true)
    expect(await stored()).toEqual({ opens: false, clicks: true })
    await record.getByText(HOST).first().waitFor()
    await card.getByText(labels.tracking.captured).waitFor()
    expect(await card.getByText(labels.tracking.notYet).count()).toBe(0)
    await card.getByRole('link', { name: labels.tracking.toRecord }).click()
    await record.getByText(HOST).first().waitFor()
    await page.reload()
    await card.getByText(labels.tracking.privacy).waitFor()
    expect(await clicks.isChecked()).toBe(true)
    expect(await card.getByRole('switch', { name: labels.tracking.opens }).isChecked()).toBe(false)
    await record.getByText(HOST).first().waitFor()
    await picture(page, 'tracking', language)

    await clicks.uncheck({ force: true })
    await save.click()
    await until(async () => !(await stored())?.clicks)
    await record.waitFor({ state: 'detached' })
    await card.getByText(labels.tracking.captured).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await leave()
  })
})
