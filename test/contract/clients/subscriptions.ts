/**
 * Uses the client generated from the document of the Subscription Administration API and prints its results.
 * Arguments: address, user name, password.
 */
import { client } from './sdk/client.gen.js'
import * as api from './sdk/index.js'

const [baseUrl = '', username = '', password = ''] = process.argv.slice(2)
client.setConfig({ baseUrl })

const session = await api.logIn({ body: { username, password }, throwOnError: true })
client.setConfig({ auth: session.data.data.token })
const app = await api.createApp({ body: { app_name: 'Made by a client', app_key: 'made' }, throwOnError: true })
const { app_secret: secret, publishable_key: key } = app.data.data
const query = { app_key: 'made' }

const plan = await api.createPlan({
  query,
  headers: { Prefer: 'return=representation', 'Idempotency-Key': 'plan' },
  body: { name: 'Monthly', price: '19.90', duration: 30, features: '{"features":["sync"]}', sort_order: '1' },
  throwOnError: true,
})
const planId = 'id' in plan.data.data ? String(plan.data.data.id) : ''
const user = await api.upsertUser({ auth: secret, body: { openid: 'o1', nickname: 'Ann' }, throwOnError: true })
const granted = await api.grantSubscription({
  query,
  body: { user_id: user.data.data.id, plan_id: planId, days: 7 },
  throwOnError: true,
})
const file = `user_id,plan_id,days,client_ref\n${user.data.data.id},${planId},3,first\n`
const imported = await api.importSubscriptions({ query, body: file, throwOnError: true })
const list = await api.listSubscriptions({ query: { ...query, pageSize: 10, status: '1' }, throwOnError: true })
const users = await api.exportUsers({ query, parseAs: 'text', throwOnError: true })
await api.createSwitch({
  query,
  body: { name: 'on', type: 'boolean', value: '1', client_visible: '1' },
  throwOnError: true,
})
const flags = await api.evaluateFlags({ auth: key, body: { context: { targetingKey: 'u1' } }, throwOnError: true })
const flag = await api.evaluateFlag({ auth: key, path: { key: 'missing' }, body: {} })
const refused = await api.listPlans({ query: { app_key: 'unknown' }, headers: { lang: 'en' } })

console.log(
  JSON.stringify({
    admin: session.data.data.admin.role,
    plan: 'price' in plan.data.data ? plan.data.data.price : '',
    granted: granted.data.data.status,
    imported: imported.data.data.imported,
    listed: list.data.data.subscriptions.map(({ plan_name }) => plan_name),
    exported: users.data.includes('Ann'),
    flags: flags.data.flags.map(one => ('variant' in one ? [one.key, one.variant, one.value] : [one.key])),
    flag: flag.error?.errorCode,
    refused: refused.error && [refused.error.code, refused.error.message],
  }),
)
