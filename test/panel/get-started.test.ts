/** The first minutes of a newcomer: from the sign-in to a message, a domain and a simulated bounce. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { credentials } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { LANGUAGES } from '../../services/panel/state/preferences.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { findings } from './support/accessibility-findings.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { tabTo } from './support/effort.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
})
afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const step = (page: Page, name: string) => page.locator('.pw-step').filter({ hasText: name })
const ticked = (page: Page, name: string) => step(page, name).locator('[data-done]')

/** The first run of an installation, so that each language has one of its own. */
test.each(['en', 'zh-CN'] as const)(
  'by keyboard alone, in %s: the first message, a simulated bounce and delay, and the first domain',
  async language => {
    const labels = catalogues[language]
    const service = await startPanelService()
    onTestFinished(service.stop)
    const { page, complaints, leave } = await browser.visit(service.url, { language })
    await page.goto('/')
    await page.locator('input[autocomplete=username]:focus').waitFor()
    // The language of the browser is shown; chosen here, it becomes that of the account.
    await tabTo(page, labels.ui.language)
    await page.keyboard.press('Enter')
    await tabTo(page, LANGUAGES[language], 'ArrowDown')
    await page.keyboard.press('Enter')
    await tabTo(page, { selector: 'input[autocomplete=username]' })
    await page.keyboard.type(service.admin.username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(service.admin.password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/start')
    await page.locator('.pw-step').first().waitFor()
    expect(await page.getByText(labels.overview.empty).count()).toBe(0)
    expect(await page.locator('[data-done]').count()).toBe(0)

    await tabTo(page, labels.messages.sendAction)
    await page.keyboard.press('Enter')
    await page.getByText(labels.messages.sent).waitFor()
    await ticked(page, labels.start.step.send).waitFor()

    await tabTo(page, labels.start.step.bounce + labels.start.hint.bounce, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, labels.start.simulated.action.replace('{{address}}', 'bounced@simulator.invalid'))
    await page.keyboard.press('Enter')
    await page
      .getByRole('status')
      .getByText(/^550 5\.1\.1 .*simulated/)
      .waitFor()
    await ticked(page, labels.start.step.bounce).waitFor()

    await tabTo(page, labels.start.step.defer + labels.start.hint.defer, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, labels.start.simulated.action.replace('{{address}}', 'deferred@simulator.invalid'))
    await page.keyboard.press('Enter')
    await page
      .getByRole('status')
      .getByText(/^451 4\.7\.1 /)
      .waitFor()
    await ticked(page, labels.start.step.defer).waitFor()
    await picture(page, 'get-started', language)
    await page
      .getByRole('status')
      .getByText(/^250 2\.0\.0 /)
      .waitFor({ timeout: 60_000 })

    await tabTo(page, labels.start.step.domain + labels.start.hint.domain, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, { selector: '.pw-form input' })
    await page.keyboard.type('first.example.com')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/domains/first.example.com')

    // From the menu; what was done is known from the account.
    await tabTo(page, labels.nav.start)
    await page.keyboard.press('Enter')
    for (const name of ['send', 'bounce', 'defer', 'domain'] as const)
      await ticked(page, labels.start.step[name]).waitFor()
    expect(await page.locator('[data-done]').count()).toBe(4)
    await tabTo(page, labels.nav.overview)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: labels.overview.title }).waitFor()
    await tabTo(page, labels.nav.messages)
    await page.keyboard.press('Enter')
    await page
      .getByRole('cell', { name: /bounced@simulator\.invalid/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await leave()
  },
  240_000,
)

test('records that are found and a login that is used are ticked off while the page is open', async () => {
  const labels = catalogues.en
  const user = await giveUser(service.mongo.db, { username: 'facts', email: 'facts@example.net' })
  // Between others, so that it is not among the first few of any order.
  const others = (letter: string) =>
    Promise.all([1, 2, 3, 4, 5, 6].map(n => giveDomain(service.mongo.db, user._id, `${letter}${n}.facts.example`)))
  await others('a')
  const domain = await giveDomain(service.mongo.db, user._id, 'facts.example', { status: 'pending' })
  await others('z')
  const { page, leave } = await signedIn(browser, service.url, { username: 'facts', password: PASSWORD })
  await ticked(page, labels.start.step.domain).waitFor()
  expect(await page.locator('[data-done]').count()).toBe(1)
  await modelOf(service.mongo.db, domains).updateOne({ _id: domain._id }, { status: 'verified', verified_by: 'dns' })
  await ticked(page, labels.start.step.verify).waitFor()

  await step(page, labels.start.step.use).click()
  await page.getByRole('button', { name: labels.start.makeLogin }).click()
  const [username = '', password = ''] = (await page.locator('pre').filter({ hasText: /^app-/ }).innerText()).split(
    '\n',
  )
  expect(username).toMatch(/^app-/)
  expect(await ticked(page, labels.start.step.use).count()).toBe(0)
  await modelOf(service.mongo.db, credentials).updateOne({ username }, { last_used_at: new Date() })
  await ticked(page, labels.start.step.use).waitFor()

  await page.getByRole('button', { name: labels.start.makeToken }).click()
  const token = await page.locator('pre').filter({ hasText: 'pw_live_' }).first().innerText()
  const secrets = { curl: token, node: token, python: password, go: password, php: password, java: password }
  for (const [language, secret] of Object.entries({ ...secrets, ruby: password, smtp: password })) {
    await page.getByRole('tab', { name: labels.start.tab[language as keyof typeof secrets], exact: true }).click()
    const text = await page.getByRole('tabpanel').locator('pre').innerText()
    expect(text).toContain(secret)
    expect(text).toContain('hello@facts.example')
    expect(text).toContain('facts@example.net')
    expect(text).not.toMatch(/YOUR_|\{\{|@example\.com/)
  }
  await leave()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]

  test('with a sandbox domain the guide is about the domain that was added', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    const name = `own-${language.toLowerCase()}.example`
    await open(page, '/start')
    // With the sandbox a message can be sent before a domain is added.
    expect(await page.locator('.pw-step-name').first().innerText()).toBe(labels.start.step.send)
    await step(page, labels.start.step.domain).click()
    await page.locator('.pw-form input').fill(name)
    await page.locator('.pw-form input').press('Enter')
    await page.waitForURL(`**/domains/${name}`)
    await page.getByRole('link', { name: labels.nav.start, exact: true }).click()
    await step(page, labels.start.step.verify).click()
    await page.getByText(labels.start.verifyText.replace('{{domain}}', name)).waitFor()
    await modelOf(service.mongo.db, domains).updateOne({ name }, { status: 'verified', verified_by: 'dns' })
    await page.getByText(labels.start.verified.replace('{{domain}}', name)).waitFor()
    expect(await page.locator('#content').getByText('sandbox.mail.example.com').count()).toBe(0)
    await page.getByRole('link', { name: labels.start.openDomain }).click()
    await page.waitForURL(`**/domains/${name}`)
    expect(complaints).toEqual([])
    // The next language begins without it. The page may still be reading it.
    await ask(page, 'DELETE', `/api/v1/domains/${name}`)
    await leave()
  })

  test('a newcomer without a domain sees the guide first, and what is missing for a step', async () => {
    const username = `empty-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    const visitor = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    const { page, complaints, leave } = visitor
    await page.getByRole('heading', { level: 1, name: labels.start.title }).waitFor()
    // Nothing can be sent yet, so a domain comes first, and every step that needs one leads to it.
    expect(await page.locator('.pw-step-name').first().innerText()).toBe(labels.start.step.domain)
    await page.locator('.pw-form input').waitFor()
    for (const name of ['bounce', 'defer', 'verify', 'send'] as const) {
      await step(page, labels.start.step[name]).click()
      await page.getByText(labels.start.domainFirst).waitFor()
      await page.getByRole('button', { name: labels.start.step.domain, exact: true }).click()
      await page.locator('.pw-form input').waitFor()
    }
    await step(page, labels.start.step.send).click()
    await page.getByRole('link', { name: labels.start.more.reference }).waitFor()
    await page.getByText(labels.start.more.version.replace('{{version}}', manifest.version), { exact: true }).waitFor()
    const documents = await page.locator('#content a[href^="https://github.com/"]').all()
    expect(documents.length).toBeGreaterThan(3)
    for (const link of documents) {
      const [, file = ''] =
        /\/postwright\/blob\/main\/(docs\/\S+\.md)$/.exec((await link.getAttribute('href')) ?? '') ?? []
      expect(await readFile(file, 'utf8')).toMatch(/^# /)
    }
    expect(await findings(page)).toEqual([])
    await ask(page, 'POST', '/api/v1/domains', { name: `${username}.example` })
    await page.getByText(labels.start.verifyFirst.replace('{{domain}}', `${username}.example`)).waitFor()
    await page.getByRole('link', { name: labels.start.openDomain }).click()
    await page.waitForURL(`**/domains/${username}.example`)
    // The overview stays reachable, and names the guide.
    await page.getByRole('link', { name: labels.nav.overview, exact: true }).click()
    await page.getByRole('heading', { name: labels.overview.firstTitle }).waitFor()
    expect(complaints).toEqual([])
    await leave()
  })

  test('a token made here is not lost by a click or a reload until it is saved', async () => {
    const username = `keeps-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    const { page, leave } = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
    await step(page, labels.start.step.use).click()
    await page.getByRole('button', { name: labels.start.makeToken }).click()
    await page.getByText(labels.ui.secretOnce).waitFor()
    const shown = page.locator('pre').filter({ hasText: 'pw_live_' })
    // In the step and in the example.
    await expect.poll(() => shown.count()).toBe(2)
    // Another step does not lose it.
    await step(page, labels.start.step.bounce).click()
    await step(page, labels.start.step.use).click()
    const domains = page.getByRole('link', { name: labels.nav.domains, exact: true })
    await domains.click()
    const question = page.getByRole('dialog', { name: labels.ui.unsavedTitle })
    await question.getByRole('button', { name: labels.ui.keepEditing }).click()
    await question.waitFor({ state: 'detached' })
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    await (await asked).dismiss()
    expect(await shown.count()).toBe(2)
    await page.getByRole('button', { name: labels.ui.secretKept }).click()
    await expect.poll(() => shown.count()).toBe(1)
    await domains.click()
    await page.waitForURL('**/domains')
    expect(await question.count()).toBe(0)
    await leave()
  })

  test('an account with a message lands on the overview', async () => {
    const username = `sender-${language.toLowerCase()}`
    await giveUser(service.mongo.db, { username })
    const name = `${username}.example`
    const { page, complaints, leave } = await signedIn(
      browser,
      service.url,
      { username, password: PASSWORD },
      { language },
    )
    await ask(page, 'POST', '/api/v1/domains', { name })
    await modelOf(service.mongo.db, domains).updateOne({ name }, { status: 'verified', verified_by: 'dns' })
    await open(page, '/start')
    await step(page, labels.start.step.bounce).click()
    await page.getByRole('button', { name: /bounced@simulator\.invalid/ }).click()
    await page
      .getByRole('status')
      .getByText(/^550 5\.1\.1 /)
      .waitFor()
    await page.getByRole('link', { name: labels.messages.view }).click()
    await page.getByRole('heading', { name: 'bounced@simulator.invalid' }).waitFor()
    await open(page, '/')
    await page.getByRole('heading', { level: 1, name: labels.overview.title }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    expect(complaints).toEqual([])
    await leave()
  })
})
