/** Templates in a real browser: edit, preview, publish, send, roll back, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

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
  const labels = catalogues[language]
  const { templates } = labels
  const name = `welcome-${language.toLowerCase()}`

  test('a template is written, previewed, sent, published, and an earlier version published again', async () => {
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, '/templates')
    await page.getByRole('button', { name: templates.new }).first().click()
    await page.getByRole('textbox', { name: templates.name }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: labels.ui.create }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()

    const frame = page.frameLocator('iframe.pw-preview')
    await frame.getByText('Hello Ann,').waitFor()
    const html = '<p style="color: rgb(1, 2, 3)">Dear {{ name }}</p><script>document.title = "run"</script>'
    await page.getByRole('textbox', { name: templates.html }).fill(html)
    await page.getByRole('textbox', { name: templates.sample }).fill('{ "name": "<b>Eve</b> & co" }')
    const greeting = frame.getByText('Dear <b>Eve</b> & co')
    await greeting.waitFor()
    expect(await page.locator('iframe.pw-preview').getAttribute('sandbox')).toBe('')

    await page.getByRole('textbox', { name: templates.html }).fill('<script>{{ name }}</script>')
    await page
      .getByText(language === 'en' ? 'A value cannot be used here' : '此处不能放值')
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: templates.html }).fill('<p>Dear {{ name }}</p>')
    await greeting.waitFor()

    await page.getByRole('button', { name: templates.sendTest }).click()
    await page.getByRole('textbox', { name: templates.from }).fill('hello@sandbox.mail.example.com')
    await page.getByRole('textbox', { name: templates.to }).fill('you@example.org')
    await page.getByRole('dialog').getByRole('button', { name: templates.sendTest }).click()
    await page.getByText(templates.sent).waitFor()
    // A toast that appears during a click must not take it.
    const taken = `(() => {
      const isTaken = part => {
        const { left, top, width, height } = part.getBoundingClientRect()
        return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('#root') === null
      }
      const toast = document.querySelector('.mantine-Notification-root')
      return [isTaken(toast), isTaken(toast.querySelector('button'))]
    })()`
    await expect.poll(() => page.evaluate(taken)).toEqual([false, true])

    await page.getByRole('button', { name: templates.save }).click()
    await page.getByText(templates.saved).waitFor()
    await page.getByRole('button', { name: templates.publish, exact: true }).click()
    await page.getByText(templates.publishedNow.replace('{{version}}', '1')).waitFor()

    await page.getByRole('textbox', { name: templates.subject }).fill('Second')
    await page.getByRole('button', { name: templates.save }).click()
    await page.getByText(templates.changed.replace('{{version}}', '1')).waitFor()
    await page.getByRole('button', { name: templates.publish, exact: true }).click()
    await page.getByText(templates.publishedNow.replace('{{version}}', '2')).waitFor()
    await page.getByRole('button', { name: templates.rollback }).click()
    await page.getByRole('dialog').getByRole('button', { name: templates.rollback }).click()
    await page.getByText(templates.changed.replace('{{version}}', '3')).waitFor()
    await page.getByRole('cell', { name: templates.rolledBackTo.replace('{{version}}', '1') }).waitFor()

    await open(page, '/templates')
    await page.getByRole('link', { name }).waitFor()
    const row = page.getByRole('row').filter({ hasText: name })
    await row.getByText(templates.changed.replace('{{version}}', '3')).waitFor()
    // The script of the template is blocked, and its html with a value in a script is refused.
    const expected = /Blocked script execution in .*\/template-previews\/prv_|422/
    expect(complaints.some(text => text.includes('Blocked script'))).toBe(true)
    expect(complaints.filter(text => !expected.test(text))).toEqual([])
    expect(await page.title()).not.toBe('run')
    await leave()
  })
})
