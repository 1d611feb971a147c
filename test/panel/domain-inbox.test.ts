/** Mail of a domain that does not go out: the delivery card, the badge, the inbox and its messages, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokens } from '../../services/mail/credentials/store/tokens.ts'
import { findDomainById } from '../../services/mail/domains/store/domains.ts'
import { CAPTURED, saveCaptured } from '../../services/mail/store/captured.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { newId } from '../../services/platform/ids.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { until } from '../support/time/until.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
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

const RAW = Buffer.from(
  [
    ...['From: app@example.com', 'Subject: Welcome', 'Content-Type: multipart/mixed; boundary=b', '', '--b'],
    ...['Content-Type: multipart/alternative; boundary=a', '', '--a', 'Content-Type: text/plain', ''],
    ...['Your code is 482913', '--a', 'Content-Type: text/html', ''],
    ...['<p>Body</p><img src=x onerror="top.hit=1"><script>top.hit=1</script>'],
    ...['<a href="javascript:top.hit=1">Run</a><a href="https://app.example/confirm">Confirm</a>', '--a--'],
    ...['--b', 'Content-Type: text/html', 'Content-Disposition: attachment; filename="evil<x>.html"', ''],
    ...['<script>top.hit=1</script>', '--b--', ''],
  ].join('\r\n'),
)

async function scene(language: 'en' | 'zh-CN') {
  const { db } = service.mongo
  const username = newId('owner')
  const { _id: user } = await giveUser(db, { username })
  const name = `${newId('d').replace('_', '')}.example`
  const { _id: domain } = await giveDomain(db, user, name, { status: 'verified', verified_by: 'dns' })
  const receive = async (subject: string, to = ['bob@example.net']) => {
    const m = newId('em')
    const mail = { m, user_id: user, domain_id: domain, subject, mail_from: `app@${name}`, rcpts: to }
    const exp = new Date(Date.now() + 3_600_000)
    await saveCaptured(service.mongo, [{ _id: `${m}.0`, ...mail, raw: RAW, at: new Date(), exp }])
  }
  const left = () => collectionOf(db, CAPTURED).countDocuments({ domain_id: domain })
  const visitor = await signedIn(browser, service.url, { username, password: PASSWORD }, { language })
  return { db, user, domain, name, receive, left, ...visitor, labels: catalogues[language] }
}

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  test('the card sets the delivery of a domain, and a badge shows it', async () => {
    const { db, domain, name, page, labels, complaints, leave } = await scene(language)
    const stored = async () => {
      const { delivery, redirect_to } = (await findDomainById(db, domain)) ?? {}
      return [delivery, redirect_to]
    }
    await open(page, `/domains/${name}`)
    const card = page.getByRole('region', { name: labels.inbox.delivery })
    const choose = (mode: 'live' | 'capture' | 'redirect') =>
      card.getByRole('radio', { name: labels.inbox.mode[mode] }).check()
    const save = () => card.getByRole('button', { name: labels.ui.save }).click()
    expect(await page.getByText(labels.inbox.badge.capture).count()).toBe(0)

    await choose('capture')
    await save()
    await page.getByText(labels.inbox.badge.capture).waitFor()
    expect(await stored()).toEqual(['capture', undefined])

    await choose('redirect')
    await card.getByRole('textbox', { name: labels.inbox.redirectTo }).fill('qa@team.example')
    await save()
    await page.getByText(labels.inbox.badge.redirect).waitFor()
    expect(await stored()).toEqual(['redirect', 'qa@team.example'])
    await picture(page, 'delivery', language)
    await open(page, '/domains')
    await page.getByText(labels.inbox.badge.redirect).waitFor()

    await open(page, `/domains/${name}`)
    await choose('live')
    await save()
    await page.getByText(labels.inbox.badge.redirect).waitFor({ state: 'detached' })
    expect(await stored()).toEqual([undefined, undefined])
    expect(complaints).toEqual([])
    await leave()
  })

  test('the inbox finds, shows and removes captured mail, and nothing of a message runs', async () => {
    const { name, receive, left, page, labels, complaints, leave } = await scene(language)
    await open(page, `/domains/${name}`)
    await page.getByRole('link', { name: labels.inbox.link, exact: true }).click()
    await page.getByText(labels.inbox.empty).waitFor()
    await receive('Welcome', ['Bob@example.net'])
    await receive('Goodbye')
    // New mail appears by itself.
    await page.getByRole('link', { name: 'Goodbye' }).waitFor()
    const search = page.getByRole('search')
    await search.getByRole('textbox', { name: labels.inbox.subject }).fill('welc')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Goodbye' }).waitFor({ state: 'detached' })
    await picture(page, 'domain-inbox', language)
    await page.getByRole('link', { name: 'Welcome' }).click()

    const drawer = page.getByRole('dialog')
    const tab = (label: string) => drawer.getByRole('tab', { name: label, exact: true }).click()
    await page.frameLocator('iframe').getByText('Body').waitFor()
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('')
    await picture(page, 'domain-inbox-message', language)
    await tab(labels.inbox.text)
    await drawer.getByText('Your code is 482913').waitFor()
    await tab(labels.inbox.links)
    await drawer.getByText('482913').first().waitFor()
    await drawer.getByText('https://app.example/confirm').waitFor()
    // An address that runs a script is text.
    await drawer.getByText('javascript:top.hit=1').waitFor()
    expect(await drawer.locator('a[href^="javascript"]').count()).toBe(0)
    await tab(labels.inbox.headers)
    await drawer.getByText('subject: Welcome').waitFor()
    await tab(labels.inbox.attachments)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      drawer.getByRole('link', { name: /evil_x_/ }).click(),
    ])
    expect(download.suggestedFilename()).toBe('evil_x_.html')
    await tab(labels.messages.tab.source)
    await drawer.getByText('multipart/alternative').waitFor()
    expect(await page.evaluate('window.hit')).toBeUndefined()

    await drawer.getByRole('button', { name: labels.inbox.delete }).click()
    const confirm = page.getByRole('dialog', { name: labels.inbox.delete })
    await confirm.getByRole('button', { name: labels.inbox.delete }).click()
    await page.getByText(labels.inbox.none).waitFor()
    expect(await left()).toBe(1)
    await open(page, `/domains/${name}/inbox`)
    await page.getByRole('link', { name: 'Goodbye' }).waitFor()
    await page.getByRole('button', { name: labels.inbox.deleteAll }).click()
    await page.getByRole('dialog').getByRole('button', { name: labels.inbox.deleteAll }).click()
    await page.getByText(labels.inbox.empty).waitFor()
    expect(await left()).toBe(0)
    // What the browser blocked of the message itself.
    expect(complaints.filter(text => !text.includes('/preview)'))).toEqual([])
    await leave()
  })

  test('a token can be made that captures what is sent with it', async () => {
    const { db, user, page, labels, complaints, leave } = await scene(language)
    await open(page, '/tokens')
    await page.getByRole('button', { name: labels.access.newToken }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: labels.access.name }).fill('Suite')
    await dialog.getByRole('checkbox', { name: labels.access.captureToken }).check()
    await dialog.getByRole('checkbox', { name: labels.access.scope['inbox:read'] }).check()
    await dialog.getByRole('button', { name: labels.ui.create }).click()
    await until(async () => (await modelOf(db, tokens).countDocuments({ user_id: user })) === 1, 60_000)
    expect(await modelOf(db, tokens).findOne({ user_id: user }).lean()).toMatchObject({
      ...{ capture: true, mode: 'live', scopes: ['emails:send', 'inbox:read'] },
    })
    await open(page, '/tokens')
    await page.getByText(labels.access.captures, { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await leave()
  })
})
