/** Several users in one account: invited, joining, working with a role, switching, removed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { problemTitles } from '../../services/platform/sentences/en/problem-titles.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { linkInMail } from './support/account-mail.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn, signIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

const { account: labels, members, security, access, domains, ui } = catalogues.en
const fill = (text: string, values: Record<string, string>) =>
  Object.entries(values).reduce((filled, [name, value]) => filled.replaceAll(`{{${name}}}`, value), text)

test('a user is invited, joins, sees the account with a role, and is out once removed', async () => {
  const { db } = service.mongo
  const owner = await giveUser(db, { username: 'acme' })
  await giveUser(db, { username: 'dora' })
  await giveDomain(db, owner._id, 'acme.example')
  const boss = await signedIn(browser, service.url, { username: 'acme', password: PASSWORD })
  const switcher = fill(members.currentAccount, { name: 'acme' })
  expect(await boss.page.getByRole('button', { name: switcher }).count()).toBe(0)
  await open(boss.page, '/members')
  await boss.page.getByRole('button', { name: members.invite }).click()
  const dialog = boss.page.getByRole('dialog')
  await dialog.getByLabel(security.email).fill('dora@example.org')
  await dialog.getByRole('button', { name: members.invite }).click()
  await boss.page.getByText('dora@example.org').waitFor()
  await picture(boss.page, 'members', 'invited')

  const link = await linkInMail(service, 'dora@example.org')
  const guest = await browser.visit(service.url)
  const { page } = guest
  await page.goto(link)
  await page.getByText(fill(members.joinLead, { name: 'acme', account: 'acme', role: 'Developer' })).waitFor()
  expect(page.url()).toBe(`${service.url}/join`)
  await page.getByRole('button', { name: members.asKnownUser }).click()
  await page.getByLabel(labels.username).fill('dora')
  await page.getByLabel(labels.password, { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: labels.signIn, exact: true }).click()
  await page.getByRole('button', { name: fill(members.joinAs, { name: 'dora' }) }).click()
  await page.locator('#content').waitFor()

  // A developer sees the domains and may not add one; tokens may be made.
  await open(page, '/domains')
  await page.getByRole('link', { name: 'acme.example' }).waitFor()
  const add = page.getByRole('button', { name: domains.add })
  expect(await add.isDisabled()).toBe(true)
  const reason = fill(members.needsRole, { role: 'Admin', own: 'Developer' })
  expect(await page.getByRole('group', { name: reason }).count()).toBe(1)
  await picture(page, 'domains', 'developer')
  await open(page, '/tokens')
  expect(await page.getByRole('button', { name: access.newToken }).first().isDisabled()).toBe(false)
  expect(await page.getByRole('link', { name: catalogues.en.nav.audit }).count()).toBe(0)

  // The own account is another one, and has nothing of it.
  await page.getByRole('button', { name: fill(members.currentAccount, { name: 'acme' }) }).click()
  await page.getByRole('menuitem', { name: 'dora (Owner)' }).click()
  await page.getByRole('button', { name: fill(members.currentAccount, { name: 'dora' }) }).waitFor()
  await open(page, '/domains')
  await page.getByText(domains.none).waitFor()
  expect(await page.getByRole('button', { name: domains.add }).first().isDisabled()).toBe(false)
  await page.getByRole('button', { name: fill(members.currentAccount, { name: 'dora' }) }).click()
  await page.getByRole('menuitem', { name: 'acme (Developer)' }).click()
  await page.getByRole('button', { name: fill(members.currentAccount, { name: 'acme' }) }).waitFor()

  // Removed while the panel is open: the next page says so and shows the own account.
  await open(boss.page, '/members')
  await boss.page.getByRole('button', { name: fill(ui.actionsFor, { name: 'dora' }) }).click()
  await boss.page.getByRole('menuitem', { name: members.remove }).click()
  await boss.page.getByRole('dialog').getByRole('button', { name: members.remove }).click()
  await boss.page.getByText(members.removed).waitFor()
  // A page that was not opened before: what is cached is shown for some seconds.
  await page.getByRole('link', { name: catalogues.en.nav.suppressions, exact: true }).click()
  // Whichever is read first, the list or the session, brings the news.
  const refused = page.getByText(problemTitles['problem.not_a_member'])
  await refused
    .or(page.getByText(fill(members.moved, { name: 'dora' })))
    .first()
    .waitFor()
  // With the account, the menu is replaced: a click in between would be lost.
  await page.getByRole('button', { name: switcher }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: catalogues.en.nav.domains, exact: true }).click()
  await page.getByText(domains.none).waitFor()
  expect(guest.complaints.filter(text => !/40[13]/.test(text))).toEqual([])
  await guest.leave()
  await boss.leave()
})

test('a new user joins with the link and is in the account', async () => {
  const owner = await giveUser(service.mongo.db, { username: 'globex' })
  await giveDomain(service.mongo.db, owner._id, 'globex.example')
  const boss = await signedIn(browser, service.url, { username: 'globex', password: PASSWORD })
  await open(boss.page, '/members')
  await boss.page.getByRole('button', { name: members.invite }).click()
  const dialog = boss.page.getByRole('dialog')
  await dialog.getByLabel(security.email).fill('new@example.org')
  await dialog.getByRole('button', { name: members.invite }).click()
  const guest = await browser.visit(service.url)
  await guest.page.goto(await linkInMail(service, 'new@example.org'))
  await guest.page.getByLabel(labels.username).fill('newcomer')
  await guest.page.getByRole('textbox', { name: labels.password }).fill('chosen password')
  await guest.page.getByRole('button', { name: members.createUser }).click()
  await guest.page.locator('#content').waitFor()
  await open(guest.page, '/domains')
  await guest.page.getByRole('link', { name: 'globex.example' }).waitFor()
  await open(guest.page, '/members')
  await guest.page.getByRole('button', { name: members.leave }).click()
  await guest.page.getByRole('dialog').getByRole('button', { name: members.leave }).click()
  await guest.page.getByRole('dialog').waitFor({ state: 'detached' })
  await open(guest.page, '/domains')
  await guest.page.getByText(domains.none).waitFor()
  await guest.leave()
  const again = await browser.visit(service.url)
  await again.page.goto('/')
  await signIn(again.page, { username: 'newcomer', password: 'chosen password' })
  await again.leave()
  await boss.leave()
})
