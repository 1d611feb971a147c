/** Every example at `/docs` of the mail API, run as it is printed against a real server with records of its own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSession } from '../../../services/accounts/login-sessions.ts'
import { codeOf, stepAt } from '../../../services/accounts/rules/totp.ts'
import { type OutgoingAccountMail, sendAccountMails } from '../../../services/accounts/send-account-mails.ts'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import { insertDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { mailDocument } from '../../../services/mail/http/openapi.ts'
import { SCOPES } from '../../../services/mail/http/shared/access.ts'
import { reportToken } from '../../../services/mail/message/report-address.ts'
import { saveCaptured } from '../../../services/mail/store/captured.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { unsubscribeUrl } from '../../../services/mail/streams/unsubscribe-link.ts'
import { putSuppression } from '../../../services/mail/suppressions/manage-suppressions.ts'
import { createTemplate, publishTemplate } from '../../../services/mail/templates/manage-templates.ts'
import { clickUrl, openUrl } from '../../../services/mail/tracking/tracking-link.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { placedOperations } from '../../../services/platform/http/reference/reference-document.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import {
  giveDomain,
  giveMembership,
  giveToken,
  giveUser,
  PASSWORD,
} from '../../support/accounts/accounts-and-domains.ts'
import { softwarePasskey } from '../../support/accounts/software-passkey.ts'
import { startCloudflare } from '../../support/dns/fake-cloudflare.ts'
import type { FakeCloud } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore } from '../../support/dns/fake-provider-zones.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type PrintedAnswer, printedExamples, startShell, successChecker } from '../../support/http/printed-examples.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'

/** Passkeys need a host name. */
const ORIGIN = 'http://localhost:3025'
const document = mailDocument(ORIGIN)
const operations = placedOperations(document)

let api: PanelApi
let cloud: FakeCloud
let shell: Awaited<ReturnType<typeof startShell>>
let printed: Map<string, string>
beforeAll(async () => {
  cloud = await startCloudflare(createFakeStore(['example.com', 'example.org'], 60))
  ;[api, shell] = await Promise.all([
    startPanelApi({
      APP_BASE_URL: ORIGIN,
      CLOUDFLARE_API_URL: cloud.url,
      DNS_SERVERS: '127.0.0.1:1',
      BLOCKLISTS: 'none',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
    startShell(),
  ])
  printed = await printedExamples(api.url)
})
afterAll(async () => {
  await api?.stop()
  await shell?.stop()
  await cloud?.stop()
})

/** The caller of one example: an admin with nothing but what the example needs. */
interface Caller {
  user: UserDoc
  client: ApiClient
  token: string
}
/** Makes what an example names; returns what replaces its texts. */
type Prepare = (caller: Caller) => Promise<Record<string, string>>

const ID = '01kaqj3v9yxd1m5r8n2t6w0bze'
const EXAMPLE_TOKEN = /[A-Za-z0-9]{43}(?=")/
const hour = () => new Date(Date.now() + 3_600_000).toISOString()

async function newCaller(): Promise<Caller> {
  const { user, client } = await api.newUser({ role: 'admin' })
  const { value: token } = await giveToken(api.db, user._id, { scopes: [...SCOPES] })
  return { user, client, token }
}

/** A record for each id that an example may name. */
const RECORDS: Readonly<Record<string, (caller: Caller) => Promise<string>>> = {
  usr: async () => (await giveUser(api.db))._id,
  dom: async ({ client }) => (await client.post('/api/v1/domains', { name: 'example.com' })).body.id,
  dns: async ({ user }) => giveDnsAccount(user._id),
  smtp: async ({ client }) => (await client.post('/api/v1/smtp-credentials', { username: newId('c') })).body.id,
  key: async ({ user }) => (await giveToken(api.db, user._id))._id,
  sup: async ({ user }) => {
    const entry = { email: 'dan@example.net', stream: '', reason: 'manual', expires_at: undefined } as const
    return (await putSuppression({ db: api.db, clock: systemClock }, user._id, entry))._id
  },
  tpl: async ({ user }) => {
    const deps = { mongo: api.mongo, clock: systemClock }
    const content = {
      name: newId('t'),
      subject: 'Hello {{ name }}',
      text: 'Hello',
      variables: [{ key: 'name', type: 'string' as const }],
    }
    const { _id } = await createTemplate(deps, user._id, content)
    await publishTemplate(deps, user._id, _id, { name: 'test' })
    return _id
  },
  mv: async ({ client }) =>
    (await client.post('/api/v1/me/message-views', { name: 'test', filters: { status: 'bounced' } })).body.id,
  wh: async ({ client }) => (await client.post('/api/v1/webhooks', { url: 'https://127.0.0.1:1/' })).body.id,
  em: async ({ user }) => {
    await giveDomain(api.db, user._id, 'example.com').catch(() => undefined)
    return (await giveMessage(api.db, user._id, { raw: 'From: ann@example.com\r\nSubject: Hello\r\n\r\nHello\r\n' }))
      ._id
  },
  hold: async ({ client }) =>
    (await client.post('/api/v1/admin/queue/holds', { scope: 'destination', value: 'example.net', reason: 'test' }))
      .body.id,
  prv: async ({ client }) => {
    const content = { subject: 'Hello', html: '<p>Hello</p>', framed: true }
    const { body } = await client.post('/api/v1/templates/preview', content)
    return /prv_\w+/.exec(JSON.stringify(body))?.[0] ?? 'no frame'
  },
  ss: async ({ client, user }) => {
    await api.as(user)
    const { data } = (await client.get('/api/v1/me/sessions')).body
    return data.find((one: { current: boolean }) => !one.current).id
  },
  inv: async ({ client }) =>
    (await client.post('/api/v1/admin/invitations', { email: `${newId('g')}@example.net` })).body.id,
}

async function giveDnsAccount(user_id: string): Promise<string> {
  const [_id, at] = [newId('dns'), new Date()]
  const sealed = sealCredentials(api.secrets, _id, { provider: 'cloudflare', credentials: { api_token: 'good-token' } })
  const tested = { at, ok: true, zones: [] }
  const dates = { created_at: at, updated_at: at }
  await insertDnsAccount(api.db, {
    ...{ _id, user_id, provider: 'cloudflare', name: 'test', by_hand: true, sealed, tested, ...dates },
  })
  return _id
}

/** A scheduled message of a verified domain. */
const scheduled = async ({ user, client }: Caller) => {
  const name = `${newId('v').replace('_', '')}.example`
  await giveDomain(api.db, user._id, name, { status: 'verified', verified_by: 'dns' })
  const message = { from: `a@${name}`, to: 'bob@example.net', subject: 'Hello', text: 'Hello', scheduled_at: hour() }
  return (await client.post('/api/v1/emails', message)).body.id as string
}
/** A sender of this account instead of the one in the example. */
const sender: Prepare = async ({ user }) => {
  const name = `${newId('v').replace('_', '')}.example`
  await giveDomain(api.db, user._id, name, { status: 'verified', verified_by: 'dns' })
  const rawOf = (domain: string) =>
    Buffer.from(`From: ann@${domain}\r\nSubject: Hello\r\n\r\nHello\r\n`).toString('base64')
  return { '@example.com': `@${name}`, [rawOf('example.com')]: rawOf(name) }
}

async function mailedToken(): Promise<string> {
  const mails: OutgoingAccountMail[] = []
  const send = async (mail: OutgoingAccountMail) => void mails.push(mail)
  const deps = { mongo: api.mongo, secrets: api.secrets, clock: systemClock, log: silentLog, baseUrl: 'http://p' }
  await sendAccountMails({ ...deps, send, mayMail: async () => true }, new AbortController().signal)
  return /#([\w-]{43})\n/.exec(mails.at(-1)?.text ?? '')?.[1] ?? 'no mail'
}
const replaceToken = (operation: string, token: string) => ({
  [EXAMPLE_TOKEN.exec(printed.get(operation) ?? '')?.[0] ?? 'no token']: token,
})

/** The code of an authenticator app, some steps of 30 s ahead. */
function codeFor(secret: string, ahead = 0): string {
  const bits = [...secret]
    .map(char => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  return codeOf(bytes, stepAt(Date.now()) + ahead)
}
async function withFactor(client: ApiClient): Promise<string> {
  const { secret } = (await client.post('/api/v1/me/second-factor', { current_password: PASSWORD })).body
  await client.post('/api/v1/me/second-factor/confirm', { code: codeFor(secret) })
  return secret
}

/** A domain whose DNS account is the fake provider. */
const managed = async (caller: Caller) => {
  const id = await RECORDS.dom?.(caller)
  await caller.client.call('PATCH', `/api/v1/domains/${id}`, { dns_account_id: await giveDnsAccount(caller.user._id) })
  return id ?? ''
}
/** A domain with a second key, which DNS has shown. */
const rotated: Prepare = async caller => {
  const id = (await RECORDS.dom?.(caller)) ?? ''
  const collection = api.db.collection<{ _id: string }>(domains.name)
  const stored = await collection.findOne<{ dkim: { selector: string }[] }>({ _id: id })
  const keys = (stored?.dkim ?? []).map(key => ({ ...key, state: 'active' }))
  const second = { ...keys[0], selector: 'pw2026a', state: 'pending', seen_at: new Date() }
  await collection.updateOne({ _id: id }, { $set: { dkim: [...keys, second] } })
  return { [`dom_${ID}`]: id }
}
const captured: Prepare = async ({ user }) => {
  const m = newId('em')
  const envelope = { mail_from: 'a@example.com', rcpts: ['b@example.net'] }
  const raw = Buffer.from('Subject: Hello\r\n\r\nHello\r\n')
  const exp = new Date(Date.now() + 3_600_000)
  await saveCaptured(api.mongo, [{ _id: `${m}.0`, m, user_id: user._id, ...envelope, raw, at: new Date(), exp }])
  return { [`em_${ID}.0`]: `${m}.0` }
}
/** In the inbox of a domain, with an attachment. */
const received: Prepare = async caller => {
  const [m, id] = [newId('em'), (await RECORDS.dom?.(caller)) ?? '']
  const envelope = { mail_from: 'a@example.com', rcpts: ['b@example.net'], at: new Date() }
  const raw = Buffer.from('Content-Type: text/csv\r\n\r\na,b\r\n')
  const exp = new Date(Date.now() + 3_600_000)
  await saveCaptured(api.mongo, [{ _id: `${m}.0`, m, user_id: caller.user._id, domain_id: id, ...envelope, raw, exp }])
  return { [`dom_${ID}`]: id, [`em_${ID}.0`]: `${m}.0` }
}
const delivered: Prepare = async caller => {
  const id = (await RECORDS.wh?.(caller)) ?? ''
  const { body } = await caller.client.post(`/api/v1/webhooks/${id}/test`)
  return { [`wh_${ID}`]: id, [`msg_${ID}`]: body.id }
}
const invited: Prepare = async caller => {
  await RECORDS.inv?.(caller)
  return {}
}
const withEmail = async ({ client }: Caller) => {
  await client.call('PUT', '/api/v1/me/email', { email: `${newId('m')}@example.net`, current_password: PASSWORD })
  return mailedToken()
}

/** A passkey, registered by its owner, and the answer to a question of the server. */
async function withPasskey({ user, client }: Caller) {
  const passkey = softwarePasskey(user._id)
  const answer = ({ options: { challenge } }: { options: { challenge: string } }) => ({
    ...{ challenge, origin: ORIGIN, host: 'localhost' },
  })
  const register = async () => {
    const { body } = await client.post('/api/v1/me/passkeys/options', { current_password: PASSWORD })
    return { challenge: body.challenge as string, ...passkey.register(answer(body)) }
  }
  const store = async () => {
    const stored = await client.post('/api/v1/me/passkeys', { name: 'My phone', ...(await register()) })
    expect(stored.status).toBe(201)
    return passkey.id
  }
  return { passkey, answer, register, store }
}
const storedPasskey: Prepare = async caller => ({ 'id-of-the-credential': await (await withPasskey(caller)).store() })

/** Another account, of which the caller is a member. */
const membership: Prepare = async ({ user }) => {
  const { user: owner } = await api.newUser()
  await giveMembership(api.db, owner, user, 'developer')
  return { [`usr_${ID}`]: owner._id }
}
/** A member of the account of the caller. */
const member: Prepare = async ({ user }) => {
  const { user: other } = await api.newUser()
  await giveMembership(api.db, user, other, 'viewer')
  return { [`usr_${ID}`]: other._id }
}
async function invitedMember(client: ApiClient): Promise<string> {
  const { body } = await client.post('/api/v1/member-invitations', { email: `${newId('g')}@example.net` })
  return body.id
}
/** The token of an invitation to the account of somebody else. */
const memberToken =
  (operation: string): Prepare =>
  async () => {
    await invitedMember((await api.newUser()).client)
    return replaceToken(operation, await mailedToken())
  }
const subscriber: Prepare = async ({ user }) => {
  const of = { userId: user._id, deliveryId: `em_${ID}.0`, stream: 'bulk', domain: 'example.com', email: 'a@b.example' }
  const link = unsubscribeUrl(api.secrets, '', of)
  return { [`${ID}.sealed`]: link.slice(link.lastIndexOf('/') + 1) }
}

const tracked = (url: string) => ({ [`${ID}.sealed`]: url.slice(url.lastIndexOf('/') + 1).replace(/\.gif$/, '') })

/** Where records by their ids are not enough. */
const PREPARE: Readonly<Record<string, Prepare>> = {
  logIn: async ({ user }) => ({ '"ann"': JSON.stringify(user.username) }),
  requestPasswordReset: async ({ user }) => ({ '"ann"': JSON.stringify(user.username) }),
  createUser: async () => ({ '"bob"': JSON.stringify(newId('u')) }),
  createSmtpCredential: async caller => ({ ...(await sender(caller)), '"shop"': JSON.stringify(newId('c')) }),
  acceptInvitation: async caller => {
    await invited(caller)
    return { ...replaceToken('acceptInvitation', await mailedToken()), '"bob"': JSON.stringify(newId('u')) }
  },
  readInvitation: async caller => {
    await invited(caller)
    return replaceToken('readInvitation', await mailedToken())
  },
  confirmEmail: async caller => replaceToken('confirmEmail', await withEmail(caller)),
  completePasswordReset: async caller => {
    const confirmed = await api.anonymous.post('/api/v1/session/email-confirmation', { token: await withEmail(caller) })
    expect(confirmed.status).toBe(204)
    await api.anonymous.post('/api/v1/session/password-reset', { username: caller.user.username })
    return replaceToken('completePasswordReset', await mailedToken())
  },
  confirmMySecondFactor: async ({ client }) => {
    const { secret } = (await client.post('/api/v1/me/second-factor', { current_password: PASSWORD })).body
    return { 123456: codeFor(secret) }
  },
  disableMySecondFactor: async ({ client }) => ({ 123456: codeFor(await withFactor(client), 1) }),
  removeUserSecondFactor: async () => {
    const { user, client } = await api.newUser()
    await withFactor(client)
    return { [`usr_${ID}`]: user._id }
  },
  completeLogIn: async ({ user, client }) => {
    const secret = await withFactor(client)
    const first = await api.anonymous.post('/api/v1/session', { username: user.username, password: PASSWORD })
    return { 'the challenge of the first step': first.body.challenge, 123456: codeFor(secret, 1) }
  },
  releaseMail: async ({ client }) => {
    const hold = { scope: 'destination', value: 'example.net', reason: 'test' }
    return { [`hold_${ID}`]: (await client.post('/api/v1/queue/holds', hold)).body.id }
  },
  suspendUser: async () => ({ [`usr_${ID}`]: (await giveUser(api.db))._id }),
  unsuspendUser: async () => ({ [`usr_${ID}`]: (await giveUser(api.db, { status: 'suspended' }))._id }),
  createDnsAccount: async () => ({ 'cf-token': 'good-token' }),
  replaceDnsAccount: async ({ user }) => ({ 'cf-token': 'good-token', [`dns_${ID}`]: await giveDnsAccount(user._id) }),
  planDomainDns: async caller => ({ [`dom_${ID}`]: await managed(caller) }),
  applyDomainDns: async caller => ({ [`dom_${ID}`]: await managed(caller) }),
  activateDkimKey: rotated,
  revokeDkimKey: rotated,
  rotateDkimKey: async caller => {
    const [id, collection] = [(await RECORDS.dom?.(caller)) ?? '', api.db.collection<{ _id: string }>(domains.name)]
    await collection.updateOne({ _id: id }, { $set: { 'dkim.$[].state': 'active' } })
    return { [`dom_${ID}`]: id }
  },
  createMyPasskey: async caller => {
    const { challenge, id, client_data, attestation } = await (await withPasskey(caller)).register()
    return {
      'the challenge of the options': challenge,
      ...{ 'id-of-the-credential': id, 'client-data-of-the-browser': client_data },
      'attestation-of-the-device': attestation,
    }
  },
  renameMyPasskey: storedPasskey,
  deleteMyPasskey: storedPasskey,
  completePasskeyLogin: async caller => {
    const { passkey, answer, store } = await withPasskey(caller)
    await store()
    const { body } = await api.anonymous.post('/api/v1/session/passkey/options')
    const { id, client_data, authenticator_data, signature, user_handle } = passkey.logIn(answer(body))
    return {
      'the challenge of the options': body.challenge,
      ...{ 'id-of-the-credential': id, 'client-data-of-the-browser': client_data },
      ...{ 'data-of-the-device': authenticator_data, 'signature-of-the-device': signature },
      'handle-of-the-user': user_handle,
    }
  },
  updateMember: member,
  removeMember: member,
  resendMemberInvitation: async ({ client }) => ({ [`minv_${ID}`]: await invitedMember(client) }),
  revokeMemberInvitation: async ({ client }) => ({ [`minv_${ID}`]: await invitedMember(client) }),
  readMemberInvitation: memberToken('readMemberInvitation'),
  joinAsNewUser: async caller => ({
    ...(await memberToken('joinAsNewUser')(caller)),
    '"bob"': JSON.stringify(newId('u')),
  }),
  joinAccount: memberToken('joinAccount'),
  leaveAccount: membership,
  switchAccount: membership,
  followTrackedLink: async () => tracked(clickUrl(api.secrets, api.url, `em_${ID}.0`, 'https://example.org/')),
  showTrackedImage: async () => tracked(openUrl(api.secrets, '', `em_${ID}.0`)),
  showUnsubscribe: subscriber,
  unsubscribe: subscriber,
  send: sender,
  sendEmail: sender,
  sendEmailBatch: sender,
  sendRawEmail: sender,
  resendEmail: async caller => {
    const { '@example.com': name = '' } = await sender(caller)
    const from = `ann${name}`
    const message = { mail_from: from, from, raw: `From: ${from}\r\nSubject: Hello\r\n\r\nHello\r\n` }
    return { [`em_${ID}`]: (await giveMessage(api.db, caller.user._id, message))._id }
  },
  cancelEmail: async caller => ({ [`em_${ID}`]: await scheduled(caller) }),
  rescheduleEmail: async caller => ({ [`em_${ID}`]: await scheduled(caller), '2030-01-01T09:00:00Z': hour() }),
  retryEmail: async caller => {
    const id = await scheduled(caller)
    await collectionOf(api.db, DELIVERIES).updateOne({ _id: `${id}.0` }, { $set: { att: 1 } })
    return { [`em_${ID}`]: id }
  },
  getRawCapturedEmail: captured,
  previewCapturedEmail: captured,
  getInboxMessage: received,
  deleteInboxMessage: received,
  getRawInboxMessage: received,
  previewInboxMessage: received,
  getInboxAttachment: received,
  getWebhookDelivery: delivered,
  replayWebhookDelivery: delivered,
  addDomainReport: async caller => ({ [`dom_${ID}`]: (await RECORDS.dom?.(caller)) ?? '', ...recent() }),
  deliverDmarcReport: async caller => ({ [`${ID}.signed`]: await addressOf('dmarc', caller), ...recent() }),
  deliverTlsReport: async caller => ({ [`${ID}.signed`]: await addressOf('tls', caller), ...recent() }),
}

const addressOf = async (kind: 'dmarc' | 'tls', caller: Caller) =>
  reportToken(kind, (await RECORDS.dom?.(caller)) ?? '', value => api.secrets.macs('report-address', value))

/** Yesterday instead of the day in the example: reports about days long past are refused. */
function recent(): Record<string, string> {
  const begin = Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)
  return { 1763596800: String(begin), 1763683199: String(begin + 86_399), '2025-11-20': day(begin) }
}

async function run(operationId: string): Promise<PrintedAnswer> {
  const caller = await newCaller()
  let command = printed.get(operationId) ?? ''
  const given = { ...(await PREPARE[operationId]?.(caller)), [document.servers[0]?.url ?? '']: api.url }
  for (const [from, to] of Object.entries(given)) command = command.replaceAll(from, to)
  for (const [, prefix = ''] of command.matchAll(new RegExp(`([a-z]+)_${ID}`, 'g')))
    command = command.replaceAll(`${prefix}_${ID}`, (await RECORDS[prefix]?.(caller)) ?? `no record for ${prefix}`)
  const name = operationId === 'streamEvents' ? 'curl --max-time 5' : 'curl'
  return shell.run(command.replace('curl', name), {
    POSTWRIGHT_TOKEN: caller.token,
    // Some preparations end all sessions of the caller.
    POSTWRIGHT_SESSION: await openSession({ db: api.db, secrets: api.secrets }, caller.user, '127.0.0.1', new Date()),
  })
}

test('every operation has a command, and a body where it needs one', () => {
  expect([...printed.keys()].toSorted()).toEqual(operations.map(({ operation }) => operation.operationId).toSorted())
  const bare = operations.filter(
    ({ operation: { requestBody } }) =>
      requestBody?.required && !Object.values(requestBody.content).some(content => 'example' in content),
  )
  expect(bare.map(({ operation }) => operation.operationId)).toEqual([])
  expect([...printed].filter(([, command]) => /%7B/.test(command)).map(([id]) => id)).toEqual([])
})

/** They need a provider and a browser that comes back from it: test/system/accounts/oidc-login.test.ts has both. */
const AT_PROVIDER: readonly string[] = ['beginOidcLogin', 'completeOidcLogin']

describe('the printed command succeeds:', () => {
  const check = successChecker(document)
  const runnable = operations.map(({ operation }) => operation.operationId).filter(id => !AT_PROVIDER.includes(id))
  test.each(runnable)('%s', async operationId => {
    const answer = await run(operationId)
    check(operationId, answer)
  })
})
