/** The panel of an https installation over `kubectl port-forward`: plain http at a name of this machine. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/database/test-mongod.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { builtPanel } from './support/built-panel.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { open, signIn } from './support/user-actions.ts'

let service: PanelService
let browser: TestBrowser
let port: number

beforeAll(async () => {
  // First, because others may take the port until the service has it, and a build takes long.
  await builtPanel()
  port = await freePort()
  const env = { APP_BASE_URL: 'https://mail.example.com', APP_PORT: String(port) }
  ;[service, browser] = await Promise.all([startPanelService(env), startBrowser()])
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

test.each(['localhost', '127.0.0.1'])('an admin logs in at http://%s and stays logged in', async host => {
  const visitor = await browser.visit(`http://${host}:${port}`)
  await visitor.page.goto('/')
  await signIn(visitor.page, service.admin)
  await open(visitor.page, '/domains')
  await visitor.page.reload()
  await visitor.page.locator('nav').first().waitFor()
  expect(new URL(visitor.page.url()).pathname).toBe('/domains')
  // Chromium and Firefox treat such addresses as secure; the cookie keeps its name and flags.
  expect(await visitor.page.context().cookies()).toMatchObject([{ name: '__Host-pw_session', secure: true }])
  await visitor.leave()
})
