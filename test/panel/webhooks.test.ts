/** Webhooks in a real browser: made, tested, seen in the log, sent again, given a new secret, deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWebhookReceiver } from '../support/http/webhook-receiver.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService({ WEBHOOK_ALLOW_PRIVATE: 'loopback' }), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]
  const { webhooks, ui } = labels

  test('a webhook is made, tested, seen in the log and deleted', async () => {
    const receiver = await startWebhookReceiver(response => void response.writeHead(500).end('broken <b>page</b>'))
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    const name = `shop ${language}`
    await open(page, '/webhooks')
    await page.getByText(webhooks.none).waitFor()
    await page.getByRole('button', { name: webhooks.new }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: webhooks.url }).fill('http://10.0.0.1/hook')
    await dialog.getByRole('button', { name: ui.create }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByRole('textbox', { name: webhooks.url }).fill(receiver.url)
    await dialog.getByRole('textbox', { name: webhooks.name }).fill(name)
    await dialog.getByRole('button', { name: ui.create }).click()
    const secret = await page.locator('pre').filter({ hasText: 'whsec_' }).innerText()
    receiver.secrets.push(secret)
    await page.getByRole('button', { name: ui.secretKept }).click()

    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await page.getByRole('button', { name: webhooks.test }).click()
    await dialog.getByText('broken <b>page</b>').waitFor()
    expect([receiver.received.length, receiver.forged]).toEqual([1, 0])
    await page.keyboard.press('Escape')
    receiver.reply = response => void response.writeHead(204).end()
    await page.getByRole('button', { name: webhooks.test }).click()
    await page.getByText(webhooks.tested).waitFor()
    await page.getByRole('cell', { name: webhooks.deliveryState.delivered }).waitFor()
    await page.getByRole('cell', { name: webhooks.deliveryState.failed }).waitFor()
    await page.getByRole('button', { name: webhooks.details }).first().click()
    await dialog.getByText('webhook-signature').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: webhooks.replayFailed }).click()
    await dialog.getByRole('button', { name: webhooks.replay, exact: true }).click()
    await page.getByText(new RegExp(webhooks.replayed.replace('{{count}}', '\\d+'))).waitFor()

    await open(page, '/webhooks')
    const menu = page.getByRole('button', { name: ui.actionsFor.replace('{{name}}', name) })
    await menu.click()
    await page.getByRole('menuitem', { name: webhooks.disable }).click()
    await page.getByText(webhooks.state.off, { exact: true }).waitFor()
    await menu.click()
    await page.getByRole('menuitem', { name: ui.delete }).click()
    await dialog.getByRole('button', { name: ui.delete }).click()
    await page.getByText(webhooks.none).waitFor()
    expect(complaints.filter(text => !text.includes('422'))).toEqual([])
    await leave()
  })
})
