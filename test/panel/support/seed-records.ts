/** Records with ids in their addresses: a template, webhooks, and a user with a subscription, a payment and a refund. */
import type { Page } from 'playwright-core'
import { openSubscriptions } from '../../../services/subscriptions/context.ts'
import { upsertUser } from '../../../services/subscriptions/people/manage-end-users.ts'
import type { PageIds } from './page-list.ts'
import type { PanelService } from './panel-service.ts'
import { ask } from './seed-through-api.ts'

/** `word` is one word of lower-case letters, `text` any text of a person. */
export interface RecordTexts {
  word: string
  text: string
}

/** Creates them for the admin. Requires the app `shop` with a plan. */
export async function seedRecords(service: PanelService, page: Page, { word, text }: RecordTexts): Promise<PageIds> {
  const base = '/subscription-api'
  const query = '?app_key=shop'
  const made = async (path: string, body: object) => ((await ask(page, 'POST', path, body)) as { id: string }).id
  const template = await made('/api/v1/templates', { name: word, subject: text, html: `<p>${word}</p>` })
  const url = `https://hooks.example.com/${word.repeat(4)}`.slice(0, 400)
  const webhook = await made('/api/v1/webhooks', { name: text.slice(0, 60), url, events: ['email.delivered'] })
  const profile = { nickname: text.slice(0, 60), email: `${word}@example.org`, platform: 'ios' }
  const identities = { openid: word, unionid: `u-${word}` }
  const { user } = await upsertUser(openSubscriptions(service.foundation), 'shop', { identities, profile })
  type Data<T> = { data: T }
  const plans = (await ask(page, 'GET', `${base}/subscription_plan${query}`)) as Data<{ plans: { id: string }[] }>
  const granted = (await ask(page, 'POST', `${base}/subscription${query}`, {
    user_id: String(user._id),
    plan_id: plans.data.plans[0]?.id,
  })) as Data<{ id: string }>
  const refund = { action: 'refund', reason: text.slice(0, 150) }
  await ask(page, 'PUT', `${base}/subscription/${granted.data.id}${query}`, refund)
  const apps = (await ask(page, 'GET', `${base}/app_manage?search=shop`)) as Data<{ apps: { id: string }[] }>
  const ofApp = (await ask(page, 'POST', `${base}/app_manage/${apps.data.apps[0]?.id}/webhook`, { url })) as Data<{
    id: string
  }>
  return { template, webhook, user: String(user._id), appWebhook: ofApp.data.id }
}
