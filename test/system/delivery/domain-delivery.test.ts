/** Domains that capture or redirect their mail: decided at acceptance, held by the worker, for waiting, scheduled and retried mail. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { CAPTURED, listCaptured } from '../../../services/mail/store/captured.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import type { Running } from '../../../services/platform/running.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../../support/database/test-database.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import {
  at,
  type DeliveryEnvironment,
  PATIENT,
  startDeliveryEnvironment,
} from '../../support/mail/delivery-environment.ts'
import { type Receiver, startReceiver } from '../../support/mail/receiving-server.ts'
import { startTcpServer } from '../../support/mail/tcp-server.ts'
import { type ServiceProcess, startService } from '../../support/processes/service-process.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

const SECRET = 'a secret of at least thirty-two bytes'

let receiver: Receiver
let api: PanelApi
let worker: Running
let env: Record<string, string>
beforeAll(async () => {
  receiver = await startReceiver()
  env = { SESSION_SECRET: SECRET, DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${receiver.port}` }
  api = await startPanelApi(env)
  await ensureIndexes(api.db, deliveryCollections)
  worker = await startConfiguredDelivery({ ...testFoundation(api.mongo, env), secrets: api.secrets })
})
afterAll(async () => {
  await worker.stop()
  await api.stop()
  await receiver.stop()
})

let accounts = 0
/** An account with a domain that is set as given. */
async function sender(delivery: object = {}, status: 'verified' | 'pending' = 'verified') {
  const { user, client } = await api.newUser()
  const domain = `preview${accounts++}.example.com`
  const id = newId('dom')
  const key = await createDkimKey(api.secrets, id, 's1', 'ed25519-sha256', new Date())
  await giveDomain(api.db, user._id, domain, {
    ...{ _id: id, status, dkim: [{ ...key, state: 'active' as const }] },
    ...(status === 'verified' && { verified_by: 'dns' as const }),
  })
  const set = (change: object) => client.call('PATCH', `/api/v1/domains/${id}`, change)
  if (Object.keys(delivery).length > 0) expect((await set(delivery)).status).toBe(200)
  const send = (more: object = {}) =>
    client.post('/api/v1/emails', {
      ...{ from: `ann@${domain}`, to: ['bob@example.net', 'eve@example.org'], subject: 'Welcome', text: 'hello' },
      ...more,
    })
  const inbox = async () => (await client.get(`/api/v1/domains/${id}/inbox/messages`)).body.data
  const email = async (emailId: string) => (await client.get(`/api/v1/emails/${emailId}`)).body
  const settled = async (emailId: string) => {
    await until(async () => (await email(emailId)).final_at !== null)
    return email(emailId)
  }
  /** What the receiver got from this domain. */
  const received = () => receiver.received.filter(({ from }) => from.endsWith(`@${domain}`))
  return { user, client, domain, id, set, send, inbox, email, settled, received }
}

describe('a domain that captures', () => {
  test('sends nothing, also after it is live again; a copy that is sent by hand goes out', async () => {
    const ann = await sender({ delivery: 'capture' })
    const { body: sent } = await ann.send()
    expect(await ann.settled(sent.id)).toMatchObject({
      ...{ delivery: 'capture', redirected_from: [], status: 'delivered' },
      recipients: [
        { email: 'bob@example.net', status: 'delivered' },
        { email: 'eve@example.org', status: 'delivered' },
      ],
    })
    expect(await ann.inbox()).toMatchObject([
      { email_id: sent.id, subject: 'Welcome', to: ['bob@example.net', 'eve@example.org'] },
    ])
    const events = (await ann.client.get(`/api/v1/emails/${sent.id}/events`)).body.data
    expect(events[0]).toMatchObject({ text_code: 'delivery.accepted_captured' })
    const attempts = (await ann.client.get(`/api/v1/emails/${sent.id}/attempts`)).body.data
    expect(attempts[0]).toMatchObject({
      ...{ mx_host: 'capture', outcome: 'delivered' },
      conversation: '-- captured: the domain is set to capture its mail',
    })
    expect(ann.received()).toEqual([])

    expect((await ann.set({ delivery: 'live' })).body).toMatchObject({ delivery: 'live', redirect_to: null })
    expect((await ann.client.post(`/api/v1/emails/${sent.id}/retry`)).status).toBe(409)
    await until(async () => {
      const { body } = await ann.client.post(`/api/v1/emails/${sent.id}/resend`, { to: 'all' })
      return (await ann.email(body.id)).delivery === 'live'
    })
    await until(() => ann.received().length > 0)
    expect(ann.received()[0]?.rcpts.map(({ email }) => email)).toEqual(['bob@example.net', 'eve@example.org'])
    expect((await ann.client.get(`/api/v1/domains/${ann.id}/inbox/messages/${sent.id}.0`)).status).toBe(200)
  })

  test('takes mail before it is verified, and not any more when it is live', async () => {
    const ann = await sender({ delivery: 'capture' }, 'pending')
    expect((await ann.client.get(`/api/v1/domains/${ann.id}`)).body).toMatchObject({
      status: 'pending',
      may_send: true,
    })
    const { body: sent } = await ann.send()
    expect(await ann.settled(sent.id)).toMatchObject({ delivery: 'capture' })
    await ann.set({ delivery: 'live' })
    expect((await ann.client.get(`/api/v1/domains/${ann.id}`)).body).toMatchObject({ may_send: false })
    await until(async () => (await ann.send()).body.code === 'domain_not_verified')
    expect(ann.received()).toEqual([])
  })

  test('has one captured message for all recipients, whatever their sites', async () => {
    const ann = await sender({ delivery: 'capture' })
    const to = Array.from({ length: 40 }, (_, n) => `u${n}@site${n}.example`)
    const { body: sent } = await ann.send({ to })
    await ann.settled(sent.id)
    expect((await ann.inbox())[0].to).toEqual(to)
  })
})

describe('a domain that redirects', () => {
  test('sends all of its mail to the one address, as the log shows', async () => {
    const ann = await sender({ delivery: 'redirect', redirect_to: 'qa@team.example' })
    const { body: sent } = await ann.send({ cc: 'cc@example.net' })
    const shown = await ann.settled(sent.id)
    expect(shown).toMatchObject({
      ...{ delivery: 'redirect', redirected_from: ['bob@example.net', 'eve@example.org', 'cc@example.net'] },
      recipients: [{ email: 'qa@team.example', status: 'delivered' }],
    })
    const events = (await ann.client.get(`/api/v1/emails/${sent.id}/events`)).body.data
    expect(events[0]).toMatchObject({
      text_code: 'delivery.accepted_redirected',
      text_params: { address: 'qa@team.example', recipients: 'bob@example.net, eve@example.org, cc@example.net' },
    })
    const [mail, ...more] = ann.received()
    expect(more).toEqual([])
    expect(mail?.rcpts.map(({ email }) => email)).toEqual(['qa@team.example'])
    expect(mail?.content.toString()).toContain('To: bob@example.net, eve@example.org')
    expect(await ann.inbox()).toEqual([])
    const copy = (await ann.client.post(`/api/v1/emails/${sent.id}/resend`, { to: 'all' })).body
    expect(await ann.settled(copy.id)).toMatchObject({ redirected_from: shown.redirected_from })
    expect(ann.received().flatMap(({ rcpts }) => rcpts.map(({ email }) => email))).toEqual([
      'qa@team.example',
      'qa@team.example',
    ])
  })

  test('refuses mail while its address is suppressed', async () => {
    const ann = await sender({ delivery: 'redirect', redirect_to: 'gone@team.example' })
    await ann.client.post('/api/v1/suppressions', { email: 'gone@team.example' })
    expect(await ann.send()).toMatchObject({ status: 422, body: { code: 'all_recipients_suppressed' } })
  })

  test('captures for a token that captures', async () => {
    const ann = await sender({ delivery: 'redirect', redirect_to: 'qa@team.example' })
    const { value } = await giveToken(api.db, ann.user._id, { capture: true })
    const client = api.anonymous.with({ authorization: `Bearer ${value}` })
    const { body: sent } = await client.post('/api/v1/emails', {
      ...{ from: `ann@${ann.domain}`, to: 'bob@example.net', subject: 'Suite', text: 'x' },
    })
    expect(await ann.settled(sent.id)).toMatchObject({
      delivery: 'capture',
      recipients: [{ email: 'bob@example.net' }],
    })
    expect(await ann.inbox()).toMatchObject([{ to: ['bob@example.net'] }])
    expect(ann.received()).toEqual([])
  })
})

test.each<[string, object, string]>([
  ['an unknown mode', { delivery: 'sandbox' }, '/delivery'],
  ['no mode', { delivery: null }, '/delivery'],
  ['a redirect without an address', { delivery: 'redirect' }, '/redirect_to'],
  ['a redirect to no address', { delivery: 'redirect', redirect_to: 'nobody' }, '/redirect_to'],
  ['an address without a redirect', { redirect_to: 'qa@team.example' }, '/redirect_to'],
])('the API refuses %s', async (_, change, pointer) => {
  const ann = await sender()
  const { status, body } = await ann.set(change)
  expect([status, body.errors?.[0]?.pointer]).toEqual([422, pointer])
  expect((await ann.client.get(`/api/v1/domains/${ann.id}`)).body).toMatchObject({
    delivery: 'live',
    redirect_to: null,
  })
})

describe('mail that waits', () => {
  const HOUR_MS = 3_600_000
  const set = (
    { mongo, domain }: DeliveryEnvironment,
    change: { delivery?: 'capture' | 'redirect'; redirect_to?: string },
  ) => updateDomain(mongo.db, domain._id, change, change.delivery ? [] : ['delivery', 'redirect_to'])
  const captured = ({ mongo, userId }: DeliveryEnvironment) => listCaptured(mongo, userId, 10)
  const done = (scene: DeliveryEnvironment, id: string) => until(async () => (await scene.message(id)).left === 0)
  const later = (scene: DeliveryEnvironment) => ({ scheduled_at: new Date(scene.clock.now().getTime() + HOUR_MS) })

  test.each([
    ['capture', { delivery: 'capture' }],
    ['redirect', { delivery: 'redirect', redirect_to: at('qa') }],
  ] as const)('for its time is captured if its domain is set to %s meanwhile', async (_, change) => {
    const scene = await startDeliveryEnvironment()
    await scene.work()
    const id = await scene.submit(later(scene))
    await set(scene, change)
    scene.clock.advance(HOUR_MS + 1_000)
    await done(scene, id)
    expect(await captured(scene)).toMatchObject([{ m: id, domain_id: scene.domain._id, subject: 'hello' }])
    expect(scene.receiver.received).toEqual([])
  })

  test('for its time stays captured, though its domain is live by then', async () => {
    const scene = await startDeliveryEnvironment()
    await set(scene, { delivery: 'capture' })
    const id = await scene.submit({ ...later(scene), capture: 'domain' })
    await set(scene, {})
    await scene.work()
    scene.clock.advance(HOUR_MS + 1_000)
    await done(scene, id)
    expect(await captured(scene)).toMatchObject([{ m: id }])
    expect(scene.receiver.connections()).toBe(0)
  })

  test('for another attempt is captured, and is sent if the domain is live again before', async () => {
    const scene = await startDeliveryEnvironment()
    await scene.work()
    const [first, second] = [
      await scene.submit({ to: [at('rcpt-451-4.3.0')] }),
      await scene.submit({ to: [at('rcpt-450-4.2.0')] }),
    ]
    for (const id of [first, second]) await until(async () => (await scene.deliveries(id))[0]?.att === 1)
    await set(scene, { delivery: 'capture' })
    scene.clock.advance(HOUR_MS)
    for (const id of [first, second]) await done(scene, id)
    expect((await captured(scene)).map(({ m }) => m).sort()).toEqual([first, second].sort())
    expect(scene.receiver.received).toEqual([])
    expect((await scene.events(first)).map(({ type, mx }) => [type, mx === 'capture'])).toEqual([
      ['deferred', false],
      ['delivered', true],
    ])
  })

  test('for a connection, or for its place at an occupied site, is captured if its domain is set to capture meanwhile', async () => {
    const gate = await startGate()
    const scene = await startDeliveryEnvironment({ env: { DELIVERY_PORT: String(gate.port) } })
    await scene.work({ deadlines: { ...PATIENT, dot: 30_000 } })
    const ids = await Promise.all(Array.from({ length: 8 }, () => scene.submit()))
    const isClaimed = async () => (await scene.deliveries()).some(({ tok }) => tok !== undefined)
    await until(async () => gate.connections() > 0 && (await isClaimed()))
    await set(scene, { delivery: 'capture' })
    // The decision of the claim is older than the worker may rely on.
    scene.clock.advance(1_000)
    gate.open(scene.receiver.port)
    for (const id of ids) await done(scene, id)
    expect((await captured(scene)).map(({ m }) => m).sort()).toEqual(ids.toSorted())
    expect(scene.receiver.received).toEqual([])
    expect(scene.receiver.connections()).toBeGreaterThan(0)
  })

  test.each<['verified' | 'pending', number]>([
    ['verified', 12],
    ['pending', 2],
  ])('in the inbox of a %s domain keeps within %i messages', async (status, most) => {
    const scene = await startDeliveryEnvironment({ env: { CAPTURED_PER_DOMAIN: '12' } })
    await scene.mongo.db.collection('domains').updateOne({ name: scene.domain.name }, { $set: { status } })
    await scene.work()
    for (let n = 0; n < 14; n++) await done(scene, await scene.submit({ capture: 'domain' }))
    await until(async () => (await listCaptured(scene.mongo, scene.userId, 20)).length === most)
  })

  test('and is redirected at acceptance goes to that address, though the domain has another one by then', async () => {
    const scene = await startDeliveryEnvironment()
    await set(scene, { delivery: 'redirect', redirect_to: at('second') })
    const id = await scene.submit({ to: [at('first')], redirected_from: [{ email: 'bob@example.net', type: 'to' }] })
    await scene.work()
    await done(scene, id)
    expect(scene.receiver.received.map(({ rcpts }) => rcpts.map(({ email }) => email))).toEqual([[at('first')]])
  })

  test('while a site is down is captured without waiting for it, and leaves its state alone', async () => {
    const scene = await startDeliveryEnvironment()
    await scene.receiver.stop()
    await scene.work()
    const refused = await scene.submit({ to: [at('b')] })
    await until(async () => (await scene.mongo.db.collection('sites').findOne({ state: 'down' })) !== null)
    const id = await scene.submit({ to: [at('b')], capture: 'token' })
    await done(scene, id)
    expect(await scene.mongo.db.collection('sites').countDocuments({ state: 'down' })).toBe(1)
    expect((await scene.message(refused)).left).toBe(1)
  })

  test('shows the envelope as it was submitted, and a report on it is captured as well', async () => {
    const scene = await startDeliveryEnvironment({ env: { BOUNCE_DOMAIN: 'bounces.example.net' } })
    await scene.work()
    const recipients = [{ email: at('b'), type: 'envelope' as const, notify: ['SUCCESS'] }]
    const id = await scene.submit({ recipients, capture: 'domain' })
    await until(async () => (await captured(scene)).length === 2)
    const mails = await captured(scene)
    expect(mails.map(({ mail_from }) => mail_from).sort()).toEqual(['', 'a@example.com'])
    expect(mails.find(({ m }) => m === id)?.domain_id).toBe(scene.domain._id)
    expect(scene.receiver.connections()).toBe(0)
  })
})

test('kill -9 of a worker: what was accepted to be captured is captured and never sent, though its domain is live', async () => {
  const scene = await startDeliveryEnvironment()
  const env = {
    ...{
      MONGODB_URI: uriOf(scene.mongo.db.databaseName),
      SESSION_SECRET: SECRET,
      MAIL_HOSTNAME: 'mail.test',
    },
    ...{ DELIVERY_MODE: 'direct', DELIVERY_PORT: String(scene.receiver.port), DELIVERY_ALLOW_PRIVATE: 'true' },
    ...{ SLOTS: '8', METRICS_PORT: '0', CAPTURED_PER_DOMAIN: '10000' },
  }
  const workers: ServiceProcess[] = []
  const start = async () => {
    const worker = startService('worker', env)
    workers.push(worker)
    await worker.line('ready')
    return worker
  }
  onTestFinished(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ exited }) => exited))
  })
  const captured: string[] = []
  const live: string[] = []
  const submit = async (count: number) => {
    for (let n = 0; n < count; n++) {
      captured.push(await scene.submit({ capture: n % 2 ? 'domain' : 'token', to: [at('b'), at('c')] }))
      if (n % 10 === 0) live.push(await scene.submit({ to: [at('b')] }))
    }
  }
  await submit(100)
  const worker = await start()
  await submit(60)
  await until(async () => (await collectionOf(scene.mongo.db, CAPTURED).countDocuments()) > 0, 60_000)
  worker.kill('SIGKILL')
  await worker.exited
  await start()
  // A live message that was past its dot has an unknown outcome, and waits a quarter of an hour for another attempt.
  const isEmpty = async () => {
    const unknown = { amb: { $gt: 0 }, tok: { $exists: false }, due: { $gt: new Date() } }
    await collectionOf(scene.mongo.db, DELIVERIES).updateMany(unknown, { $set: { due: new Date() } })
    return (await scene.deliveries()).length === 0
  }
  await until(isEmpty, 120_000, 500)
  const kept = await collectionOf(scene.mongo.db, CAPTURED)
    .find()
    .project<{ m: string; rcpts: string[] }>({ m: 1, rcpts: 1 })
    .toArray()
  const reached = new Set(kept.flatMap(({ m, rcpts }) => rcpts.map(rcpt => `${m} ${rcpt}`)))
  expect([...reached].sort()).toEqual(captured.flatMap(id => [`${id} ${at('b')}`, `${id} ${at('c')}`]).sort())
  const sent = new Set(
    scene.receiver.received.map(({ content }) => /^Message-ID: <(em_\w+)@/m.exec(content.toString())?.[1]),
  )
  expect([...sent].sort()).toEqual(live.sort())
}, 300_000)

/** A port whose connections get no greeting until it opens; then they are connections to another port. */
async function startGate() {
  const opened = Promise.withResolvers<number>()
  const gate = await startTcpServer(async client => {
    client.on('error', () => undefined)
    const server = connect(await opened.promise, '127.0.0.1')
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    client.pipe(server).pipe(client)
  })
  onTestFinished(() => gate.stop())
  return { port: gate.port, connections: gate.connections, open: opened.resolve }
}

function uriOf(database: string): string {
  const uri = new URL(sharedMongoUri())
  uri.pathname = `/${database}`
  return uri.toString()
}
