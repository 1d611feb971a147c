/** What the page of a message says about recipients that did not get it, in both languages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { giveEvent, giveMessage } from '../support/mail/stored-messages.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { catalogues, open, picture, signedIn } from './support/user-actions.ts'

const texts = { en: english, 'zh-CN': chinese.texts }
let service: PanelService
let browser: TestBrowser
let id: string

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { db } = service.mongo
  const { _id } = await giveUser(db, { username: 'owner' })
  const message = await giveMessage(db, _id, {
    rcpts: [
      { email: 'gone@example.net', type: 'to', status: 'bounced', code: 550, enhanced: '5.1.1', at: new Date() },
      { email: 'ok@example.net', type: 'to', status: 'delivered', code: 250, at: new Date() },
    ],
  })
  const refused = {
    type: 'bounced',
    code: 550,
    enhanced: '5.1.1',
    kind: 'address',
    text: '550 5.1.1 <b>unknown</b>',
  } as const
  await giveEvent(db, message, refused)
  await giveEvent(db, message, { _id: `${message._id}.1#1`, rcpt: 'ok@example.net' })
  id = message._id
}, 400_000)

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language].messages.explain

  test('a refused recipient has the reason, the side and what to do; one who got it has nothing', async () => {
    const login = { username: 'owner', password: PASSWORD }
    const { page, complaints, leave } = await signedIn(browser, service.url, login, { language })
    await open(page, `/messages/${id}`)
    const card = page.getByRole('region', { name: 'gone@example.net' })
    await card.getByText(labels.responsible.recipient, { exact: true }).waitFor()
    await card.getByText(texts[language]['explain.why_address'], { exact: true }).waitFor()
    await card.getByText(texts[language]['explain.do_check_address'], { exact: true }).waitFor()
    await picture(page, 'message-explanation', language)
    const other = page.getByRole('region', { name: 'ok@example.net' })
    await other.waitFor()
    expect(await other.getByText(labels.next).count()).toBe(0)
    expect(complaints).toEqual([])
    await leave()
  })
})
