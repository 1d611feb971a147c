/** Every example at `/docs` of the Subscription Administration API, run as it is printed against a real server. */
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placedOperations } from '../../../services/platform/http/reference/reference-document.ts'
import { openApiDocument } from '../../../services/subscriptions/http/openapi.ts'
import { unsubscribeUrl } from '../../../services/subscriptions/reminders/unsubscribe-link.ts'
import { printedExamples, startShell, successChecker } from '../../support/http/printed-examples.ts'
import {
  type ApiAnswer,
  type SubscriptionApi,
  startSubscriptionApi,
} from '../../support/subscriptions/subscription-api.ts'

const document = openApiDocument()
const operations = placedOperations(document).map(({ operation }) => operation)

/** Operations whose example is not run, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  notifyAlipay: 'Alipay signs the notice: subscriptions-payment-notices.test.ts',
  notifyWechat: 'WeChat Pay signs the notice: subscriptions-payment-notices.test.ts',
  notifyHuawei: 'Huawei signs the notice: subscriptions-payment-notices.test.ts',
}

let api: SubscriptionApi
let shell: Awaited<ReturnType<typeof startShell>>
let printed: Map<string, string>
let token: string
beforeAll(async () => {
  ;[api, shell] = await Promise.all([
    startSubscriptionApi({ ADMIN_BASE_URL: 'http://subscriptions.example', WEBHOOK_ALLOW_PRIVATE: 'true' }),
    startShell(),
  ])
  printed = await printedExamples(api.url)
  token = await api.logIn('super', ['*'])
  const flag = { name: 'dark-mode', type: 'boolean', value: '1', client_visible: '1' }
  await dataOf(api.call('POST', '/switch_manage', { body: flag }))
})
afterAll(async () => {
  await api?.stop()
  await shell?.stop()
})

type Texts = Record<string, string>
const ID = '01kaqj3v9yxd1m5r8n2t6w0bze'
let given = 0

async function dataOf(answer: Promise<ApiAnswer>) {
  const { status, text, body } = await answer
  if (status !== 200) throw new Error(text)
  return body.data
}

/** New records for one example, by the texts that name them in it. */
async function giveRecords(): Promise<Texts> {
  const number = ++given
  const headers = { prefer: 'return=representation' }
  const admin = { username: `spare-${number}`, password: 'x'.repeat(12), role: 'viewer' }
  const plan = { name: `Plan ${number}`, price: 19.9, duration: 30, features: '{"features":[]}' }
  const flag = { name: `switch-${number}`, type: 'boolean', value: '1', client_visible: '1' }
  const app = await dataOf(api.call('POST', '/app_manage', { body: { app_name: `Spare ${number}` } }))
  const [adminId, user, madePlan, credential, webhook] = await Promise.all([
    dataOf(api.call('POST', '/admin', { body: admin })),
    dataOf(api.server('POST', '/server/user', { body: { openid: `user-${number}` } })),
    dataOf(api.call('POST', '/subscription_plan', { body: plan, headers })),
    dataOf(api.call('POST', `/app_manage/${app.id}/credential`, { body: {} })),
    dataOf(api.call('POST', `/app_manage/${app.id}/webhook`, { body: { url: 'https://127.0.0.1:1/' } })),
    dataOf(api.call('POST', '/switch_manage', { body: flag })),
  ])
  // Each gets an earlier revision.
  await api.call('PUT', `/subscription_plan/${madePlan.id}`, { body: { price: 20 } })
  await api.call('PUT', '/switch_manage', { query: { app_key: 'demo', name: flag.name }, body: { value: '0' } })
  const paid = { payment_method: 'alipay', payment_id: `payment-${number}`, amount: 20 }
  const bought = { user_id: user.id, plan_id: madePlan.id, ...paid }
  const { subscription } = await dataOf(api.server('POST', '/server/subscription', { body: bought }))
  return {
    ...{ 1001: user.id, 2001: madePlan.id, 3001: subscription.id, 4001: app.id, 5001: adminId.id },
    ...{ 'dark-mode': flag.name, [`crd_${ID}`]: credential.id, [`wh_${ID}`]: webhook.id },
  }
}

/** Where these records are not enough. */
const PREPARE: Readonly<Record<string, (records: Texts) => Promise<Texts>>> = {
  logIn: async () => ({ '"ann"': '"admin-1"' }),
  setPaymentChannel: async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const pem = String(publicKey.export({ type: 'spki', format: 'pem' }))
    return { 'PUBLIC KEY OF ALIPAY': JSON.stringify(pem).slice(1, -1) }
  },
  // An app has two of a kind at most.
  createAppCredential: async ({ 4001: app, [`crd_${ID}`]: credential }) => {
    await dataOf(api.call('DELETE', `/app_manage/${app}/credential/${credential}`))
    return {}
  },
  // The switches of an app are cached for a moment: one that was there from the start.
  evaluateFlag: async () => ({ 'dark-mode': 'dark-mode' }),
  getWebhookDelivery: delivered,
  replayWebhookDelivery: delivered,
  showUnsubscribe: records => unsubscribeToken(records),
  unsubscribe: records => unsubscribeToken(records),
}

/** A test event of the webhook, which no server takes. */
async function delivered({ 4001: app, [`wh_${ID}`]: webhook }: Texts): Promise<Texts> {
  const { id } = await dataOf(api.call('POST', `/app_manage/${app}/webhook/${webhook}/test`))
  return { [`msg_${ID}`]: id }
}

async function unsubscribeToken(records: Texts): Promise<Texts> {
  const url = unsubscribeUrl(api.context, { appKey: 'demo', id: Number(records[1001]) })
  return { 'the-token-of-the-mail': url?.split('/').at(-1) ?? 'no token' }
}

/** Operations that end the session of the caller. */
const OWN_SESSION = new Set(['logOut', 'changePassword'])

async function run(operationId: string) {
  const records = await giveRecords()
  const texts = { ...records, ...(await PREPARE[operationId]?.(records)) }
  let command = printed.get(operationId) ?? ''
  for (const [from, to] of Object.entries(texts))
    command = /^\d+$/.test(from)
      ? command.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to)
      : command.replaceAll(from, to)
  return shell.run(command.replaceAll('http://subscriptions.example', api.url), {
    POSTWRIGHT_TOKEN: OWN_SESSION.has(operationId) ? await api.logIn('super', ['*']) : token,
    POSTWRIGHT_APP_SECRET: api.demo.secret,
    POSTWRIGHT_APP_KEY: api.demo.publishableKey,
  })
}

test('every operation has a command, and a body where it needs one', () => {
  expect([...printed.keys()].toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted())
  const bare = operations.filter(
    ({ operationId, requestBody }) =>
      requestBody?.required &&
      !(operationId in NOT_RUN) &&
      !Object.values(requestBody.content).some(content => 'example' in content),
  )
  expect(bare.map(({ operationId }) => operationId)).toEqual([])
  expect([...printed].filter(([, command]) => /%7B/.test(command)).map(([id]) => id)).toEqual([])
})

describe('the printed command succeeds:', () => {
  const check = successChecker(document)
  test.each(operations.map(({ operationId }) => operationId).filter(id => !(id in NOT_RUN)))(
    '%s',
    async operationId => {
      check(operationId, await run(operationId))
    },
  )
})
