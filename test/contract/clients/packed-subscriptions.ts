/** Uses the packed client with the Subscription Administration API. Arguments: address, user name, password. */
import {
  createApp,
  createClient,
  createSwitch,
  eachPage,
  evaluateFlags,
  exportUsers,
  listPlans,
  listUsers,
  logIn,
  PostwrightError,
  upsertUser,
} from '@postwright/client/subscriptions'

const [url = '', username = '', password = ''] = process.argv.slice(2)
const { token } = await logIn(createClient({ url }), { body: { username, password } })
const client = createClient({ url, token, language: 'en' })
const { app_secret: secret, publishable_key: key } = await createApp(client, {
  body: { app_name: 'Made by a client', app_key: 'made' },
})
const query = { app_key: 'made' }
const server = createClient({ url, token: secret })
for (const openid of ['o1', 'o2', 'o3']) await upsertUser(server, { body: { openid, nickname: openid } })
const pages: string[][] = []
for await (const { users } of eachPage(listUsers, client, { query: { ...query, pageSize: 2 } }))
  pages.push(users.map(({ nickname }) => String(nickname)))
await createSwitch(client, { query, body: { name: 'on', type: 'boolean', value: '1', client_visible: '1' } })
const flags = await evaluateFlags(createClient({ url, token: key }), { body: { context: { targetingKey: 'u1' } } })
const exported = await (await exportUsers(client, { query })).text()
const refused = await listPlans(client, { query: { app_key: 'unknown' } }).catch((error: unknown) => error)

console.log(
  JSON.stringify({
    pages,
    flags: flags?.flags.map(one => ('variant' in one ? [one.key, one.value] : [one.key])),
    exported: exported.includes('o2'),
    refused: refused instanceof PostwrightError && [refused.status, refused.code, refused.message],
  }),
)
