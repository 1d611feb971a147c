/** WebhookEndpoints as resources: webhooks of accounts and apps, their Secret, refusals, disabling, adoption, removal. */
import { describe, expect, test } from 'vitest'
import type { SecretObject } from '../../operator/kube/object-writer.ts'
import { changeMailWebhook, createMailWebhook, type WebhookDeps } from '../../services/mail/webhooks/manage-webhooks.ts'
import { type MailWebhookDoc, mailWebhooks } from '../../services/mail/webhooks/store/webhook-collections.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { sentence } from '../../services/platform/sentences/sentence.ts'
import { openSubscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { createWebhook, updateWebhook } from '../../services/subscriptions/webhooks/manage-webhooks.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

const url = 'https://hooks.example.com/mail'

onApiServer('WebhookEndpoints', () => {
  const start = async (config: Record<string, string> = {}) => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config })
    const model = modelOf(operator.mongo.db, mailWebhooks)
    const all = () => model.find().sort({ _id: 1 }).lean<MailWebhookDoc[]>()
    const only = async () => {
      const found = await all()
      expect(found).toHaveLength(1)
      return found[0] as MailWebhookDoc
    }
    const deps: WebhookDeps = { ...operator.foundation, ownDomains: async (_, ids) => ids }
    return { operator, model, all, only, deps }
  }
  const condition = ({ status }: Seen, type: string) => status?.conditions?.find(one => one.type === type)
  const ready = (operator: OperatorUnderTest, name = 'events') =>
    operator.condition('WebhookEndpoint', name, 'Ready', 'True')
  const secretPath = ({ namespace }: OperatorUnderTest, name: string) =>
    `/api/v1/namespaces/${namespace}/secrets/${name}`
  const disabledAt = (at: Date) => ({ at, reason: sentence('webhook.failing', { days: 3 }) })

  test('an account gets a webhook and the namespace its secret; both follow the spec', async () => {
    const { operator, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', {
      url,
      events: ['email.bounced'],
      noticeEmail: 'ops@example.com',
    })
    const seen = await ready(operator)
    const webhook = await only()
    expect(webhook).toMatchObject({
      url,
      events: ['email.bounced'],
      enabled: true,
      domain_ids: [],
      notice_email: 'ops@example.com',
      managed_by: { kind: 'WebhookEndpoint', namespace: operator.namespace, name: 'events' },
    })
    expect(seen.status).toMatchObject({
      webhookId: webhook._id,
      owner: `k8s-${operator.namespace}`,
      secretName: 'events-webhook',
      enabled: true,
    })
    const secret = await operator.secret('events-webhook')
    expect(secret).toEqual({ secret: expect.stringMatching(/^whsec_/), 'webhook-id': webhook._id })
    const next = { url: `${url}/2`, events: [], format: 'Resend', displayName: 'Mail', enabled: false }
    await operator.apply('WebhookEndpoint', 'events', next)
    await until(async () => (await only()).url === next.url)
    expect(await only()).toMatchObject({ events: [], format: 'resend', name: 'Mail', enabled: false })
    expect(condition(await ready(operator), 'Ready')?.message).toContain('spec.enabled is false')
    expect(await operator.secret('events-webhook')).toEqual(secret)
    await until(async () => (await only()).k8s?.ready === true)
  })

  test('it is restricted to domains, and waits for them', async () => {
    const { operator, all, only } = await start()
    const spec = { url, domainRefs: [{ name: 'one' }, { name: 'two' }] }
    await operator.apply('WebhookEndpoint', 'events', spec)
    const waiting = await operator.condition('WebhookEndpoint', 'events', 'Reconciling', 'True')
    expect(condition(waiting, 'Ready')).toMatchObject({ reason: 'DependencyNotReady' })
    await operator.apply('MailDomain', 'one', { domainName: 'one.example' })
    await operator.apply('MailDomain', 'two', { domainName: 'two.example' })
    await ready(operator)
    const ids = await Promise.all(
      ['one', 'two'].map(async name => (await operator.get('MailDomain', name))?.status?.domainId),
    )
    expect((await only()).domain_ids).toEqual(ids)
    const alice = await giveUser(operator.mongo.db, { username: 'alice' })
    await operator.allowOwners('alice')
    await operator.apply('MailDomain', 'three', { domainName: 'three.example', owner: { username: 'alice' } })
    await operator.condition('MailDomain', 'three', 'Accepted', 'True')
    await operator.apply('WebhookEndpoint', 'events', { url, domainRefs: [{ name: 'one' }, { name: 'three' }] })
    const mixed = await operator.condition('WebhookEndpoint', 'events', 'Stalled', 'True')
    expect(condition(mixed, 'Stalled')?.message).toContain('MailDomain three belongs to another account')
    await operator.apply('WebhookEndpoint', 'events', { url, domainRefs: [{ name: 'three' }] })
    await until(async () => (await all())[0]?.user_id === alice._id)
    // The namespace loses the account: the webhook stays there, disabled.
    await operator.allowOwners(null)
    await until(async () => (await only()).managed_by === undefined)
    expect(await only()).toMatchObject({ user_id: alice._id, enabled: false })
    await operator.removeAndWait('WebhookEndpoint', 'events')
    expect(await only()).toMatchObject({ user_id: alice._id })
  })

  test.each<[string, object, string, RegExp]>([
    ['a private address', { url: 'https://127.0.0.1/hook' }, 'InvalidSpec', /spec\.url .*WEBHOOK_ALLOW_PRIVATE/],
    ['no TLS', { url: 'http://hooks.example.com' }, 'InvalidSpec', /spec\.url must begin with https/],
    ['a password', { url: 'https://me:pw@hooks.example.com' }, 'InvalidSpec', /spec\.url must not contain/],
    ['a foreign account', { url, owner: { username: 'root' } }, 'OwnerNotAllowed', /may not act for the account root/],
  ])('refuses %s and says why', async (_, spec, reason, message) => {
    const { operator, all } = await start()
    await operator.apply('WebhookEndpoint', 'events', spec)
    const stalled = await operator.condition('WebhookEndpoint', 'events', 'Stalled', 'True')
    expect(condition(stalled, 'Stalled')).toMatchObject({ reason, message: expect.stringMatching(message) })
    expect(await all()).toEqual([])
  })

  test('the eleventh webhook of an account is refused, until another is deleted', async () => {
    const { operator, all } = await start()
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`)
    for (const name of names) await operator.apply('WebhookEndpoint', name, { url: `${url}/${name}` })
    await until(async () => (await all()).length === 10)
    await operator.apply('WebhookEndpoint', 'last', { url })
    const stalled = await operator.condition('WebhookEndpoint', 'last', 'Stalled', 'True')
    expect(condition(stalled, 'Stalled')).toMatchObject({ reason: 'Conflict', message: expect.stringContaining('10') })
    await operator.removeAndWait('WebhookEndpoint', 'w0')
    await operator.apply('WebhookEndpoint', 'last', { url }, { annotations: { look: '1' } })
    await ready(operator, 'last')
  })

  test('what the platform disabled is shown, left alone, and enabled by a later request', async () => {
    const { operator, model, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url, enabled: true })
    await ready(operator)
    const since = new Date(Date.now() - 60_000)
    const failing = { since, turns: 3, paused_until: new Date() }
    await model.updateOne({}, { $set: { failing } })
    const failed = await operator.condition('WebhookEndpoint', 'events', 'Delivering', 'False')
    expect(condition(failed, 'Ready')).toMatchObject({ status: 'True' })
    expect(failed.status?.failingSince).toBe(`${since.toISOString().slice(0, 19)}Z`)
    const at = new Date()
    await model.updateOne({}, { $set: { enabled: false, disabled: disabledAt(at) }, $unset: { failing: '' } })
    const stalled = await operator.condition('WebhookEndpoint', 'events', 'Stalled', 'True')
    expect(condition(stalled, 'Stalled')).toMatchObject({
      reason: 'DisabledByPlatform',
      message: expect.stringContaining('postwright.dev/enable-at'),
    })
    expect(stalled.status).toMatchObject({ enabled: false, disabledTime: expect.any(String) })
    // Neither another run nor another change of the spec enables it.
    await operator.apply('WebhookEndpoint', 'events', { url, enabled: true, events: ['email.failed'] })
    await until(async () => (await only()).events.length === 1)
    expect(await only()).toMatchObject({ enabled: false, disabled: { at } })
    const annotate = (time: string) =>
      operator.apply('WebhookEndpoint', 'events', { url }, { annotations: { 'postwright.dev/enable-at': time } })
    await annotate('now')
    await until(async () => {
      const seen = (await operator.get('WebhookEndpoint', 'events')) as Seen
      return condition(seen, 'Stalled')?.reason === 'InvalidAnnotation'
    })
    await annotate(new Date(at.getTime() - 1_000).toISOString())
    await until(async () => {
      const seen = (await operator.get('WebhookEndpoint', 'events')) as Seen
      return condition(seen, 'Stalled')?.reason === 'DisabledByPlatform'
    })
    await annotate(new Date(at.getTime() + 1).toISOString())
    await ready(operator)
    expect(await only()).toMatchObject({ enabled: true })
    expect(await only()).not.toHaveProperty('disabled')
    await until(async () => (await operator.events('events')).includes('EnabledAgain'))
  })

  test.each<[string, object[]]>([
    ['another address', [{ url: `${url}/new` }]],
    [
      'declaring it off and on',
      [
        { url, enabled: false },
        { url, enabled: true },
      ],
    ],
  ])('what the platform disabled is enabled by %s', async (_, specs) => {
    const { operator, model, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url })
    await ready(operator)
    await model.updateOne({}, { $set: { enabled: false, disabled: disabledAt(new Date()) } })
    await operator.condition('WebhookEndpoint', 'events', 'Stalled', 'True')
    for (const spec of specs) {
      await operator.apply('WebhookEndpoint', 'events', spec)
      await ready(operator)
    }
    expect(await only()).toMatchObject({ enabled: true })
  })

  test('the secret is replaced on demand, once, and by its interval; the old one signs for a day', async () => {
    const { operator, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url })
    await ready(operator)
    const secretOf = async () => (await operator.secret('events-webhook'))?.secret
    const first = await secretOf()
    const made = await only()
    const annotations = { 'postwright.dev/rotate-at': new Date(made.created_at.getTime() + 1).toISOString() }
    await operator.apply('WebhookEndpoint', 'events', { url }, { annotations })
    await until(async () => (await secretOf()) !== first)
    const second = await secretOf()
    expect((await only()).previous?.sealed).toBe(made.sealed)
    await until(async () => (await operator.events('events')).includes('SecretRotated'))
    await operator.apply('WebhookEndpoint', 'events', { url, events: ['email.failed'] }, { annotations })
    await until(async () => (await only()).events.length === 1)
    expect(await secretOf()).toBe(second)
    await operator.apply('WebhookEndpoint', 'events', { url, rotationIntervalDays: 30 }, { annotations })
    await ready(operator)
    expect(await secretOf()).toBe(second)
    operator.clock.advance(31 * 24 * 3_600_000)
    await operator.apply('WebhookEndpoint', 'events', { url, rotationIntervalDays: 30 }, { annotations: { look: '1' } })
    await until(async () => (await secretOf()) !== second)
  })

  test('a lost or changed Secret gets its content again; a foreign one is left', async () => {
    const { operator } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url })
    await ready(operator)
    const before = await operator.secret('events-webhook')
    await operator.admin.request({ method: 'DELETE', path: secretPath(operator, 'events-webhook') })
    await until(async () => (await operator.secret('events-webhook')) !== undefined)
    expect(await operator.secret('events-webhook')).toEqual(before)
    const body = { data: { secret: Buffer.from('mine').toString('base64') } }
    await operator.admin.request({
      ...{ method: 'PATCH', path: secretPath(operator, 'events-webhook'), body },
      patch: 'merge',
    })
    await until(async () => (await operator.secret('events-webhook'))?.secret === before?.secret)
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'taken' }, stringData: { a: 'b' } }
    const path = `/api/v1/namespaces/${operator.namespace}/secrets`
    await operator.admin.request<SecretObject>({ method: 'POST', path, body: foreign })
    await operator.apply('WebhookEndpoint', 'other', { url, secret: { name: 'taken' } })
    const stalled = await operator.condition('WebhookEndpoint', 'other', 'Stalled', 'True')
    expect(condition(stalled, 'Stalled')?.message).toContain('A Secret taken exists')
    expect(await operator.secret('taken')).toEqual({ a: 'b' })
  })

  test('a person cannot change it, and what changes it otherwise is reverted', async () => {
    const { operator, model, only, deps } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url, enabled: true })
    await ready(operator)
    const { user_id, _id } = await only()
    const byPerson = changeMailWebhook(deps, user_id, _id, { enabled: false })
    await expect(byPerson).rejects.toMatchObject({ code: 'managed_by_resource' })
    await model.updateOne({ _id }, { $set: { url: 'https://elsewhere.example', enabled: false } })
    await until(async () => (await only()).url === url)
    expect((await only()).enabled).toBe(true)
    await until(async () => (await operator.events('events')).includes('DriftReverted'))
    await model.deleteOne({ _id })
    await until(async () => (await model.countDocuments()) === 1)
    await until(async () => (await operator.secret('events-webhook'))?.['webhook-id'] === (await only())._id)
  })

  test('an adopted webhook keeps what the resource does not declare', async () => {
    const { operator, only, deps } = await start()
    const alice = await giveUser(operator.mongo.db, { username: 'alice' })
    await operator.allowOwners('alice')
    const settings = { name: 'Mine', url, events: ['email.failed' as const], domain_ids: [], enabled: false }
    const made = await createMailWebhook(deps, alice._id, {
      ...settings,
      format: 'resend',
      notice_email: 'a@b.example',
    })
    const spec = { url, owner: { username: 'alice' } }
    await operator.apply('WebhookEndpoint', 'events', spec, { annotations: { 'postwright.dev/adopt': 'true' } })
    await ready(operator)
    expect(await only()).toMatchObject({
      _id: made.webhook._id,
      ...settings,
      format: 'resend',
      notice_email: 'a@b.example',
      managed_by: { name: 'events' },
    })
    expect((await operator.secret('events-webhook'))?.secret).toBe(made.secret)
  })

  test('the conditions and the record name the host of the address only: its path may be a secret', async () => {
    const { operator, model, only } = await start()
    const secretUrl = 'https://hooks.example.com:8443/services/T0/path-secret?key=query-secret'
    await operator.apply('WebhookEndpoint', 'events', { url: secretUrl })
    const { status } = await ready(operator)
    await until(async () => (await model.findOne().lean<MailWebhookDoc>())?.k8s?.ready === true)
    const { k8s, ...webhook } = await only()
    expect(webhook.url).toBe(secretUrl)
    const accepted = status?.conditions?.find(({ type }) => type === 'Accepted')
    expect(accepted?.message).toContain('are sent to hooks.example.com:8443.')
    expect(JSON.stringify([status, k8s])).not.toMatch(/path-secret|query-secret/)
  })

  test.each(['Delete', 'Retain'] as const)('deleted with %s', async deletionPolicy => {
    const { operator, all, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url, deletionPolicy })
    await ready(operator)
    const { _id } = await only()
    await operator.removeAndWait('WebhookEndpoint', 'events')
    if (deletionPolicy === 'Delete') return expect(await all()).toEqual([])
    expect(await only()).toMatchObject({ _id, enabled: true })
    expect(await only()).not.toHaveProperty('managed_by')
    // As the garbage collector of a cluster does.
    await operator.admin.request({ method: 'DELETE', path: secretPath(operator, 'events-webhook') })
    await operator.apply('WebhookEndpoint', 'events', { url })
    await ready(operator)
    expect(await only()).toMatchObject({ _id, managed_by: { name: 'events' } })
  })

  test('an operator that is killed before it wrote the Secret makes no second webhook', async () => {
    const { operator, all, only } = await start()
    await operator.apply('WebhookEndpoint', 'events', { url })
    await ready(operator)
    const { _id } = await only()
    await operator.running.stop()
    await operator.admin.request({ method: 'DELETE', path: secretPath(operator, 'events-webhook') })
    await operator.another()
    await until(async () => (await operator.secret('events-webhook'))?.['webhook-id'] === _id)
    expect(await all()).toHaveLength(1)
  })

  describe('of an App', () => {
    const appUrl = 'https://hooks.example.com/subscriptions'
    const begin = async () => {
      const started = await start()
      const { operator } = started
      const subscriptions = openSubscriptions(operator.foundation)
      const appKey = `hooks-${process.pid}`
      const stored = () => subscriptions.collections.webhooks.find({ app_key: appKey }).lean()
      await operator.apply('App', 'shop', { appKey, appName: 'Shop' })
      return { ...started, subscriptions, appKey, stored }
    }

    test('gets its events, with a secret of its own, and follows the spec', async () => {
      const { operator, stored, subscriptions, appKey, all } = await begin()
      const spec = { url: appUrl, appRef: { name: 'shop' }, events: ['subscription.created'] }
      await operator.apply('WebhookEndpoint', 'events', spec)
      const { status } = await ready(operator)
      const [webhook] = await stored()
      expect(webhook).toMatchObject({ url: appUrl, events: ['subscription.created'], enabled: true })
      expect(status).toMatchObject({ webhookId: webhook?._id, owner: appKey })
      expect(await operator.secret('events-webhook')).toMatchObject({ 'webhook-id': webhook?._id })
      expect(await all()).toEqual([])
      const target = { appKey, id: webhook?._id ?? '' }
      const byPerson = updateWebhook(subscriptions, systemActor, target, { enabled: false })
      await expect(byPerson).rejects.toMatchObject({ code: 'managed_by_resource' })
      await operator.apply('WebhookEndpoint', 'events', { ...spec, enabled: false })
      await until(async () => (await stored())[0]?.enabled === false)
      await until(async () => (await stored())[0]?.k8s?.ready === true)
      await operator.removeAndWait('WebhookEndpoint', 'events')
      expect(await stored()).toEqual([])
    })

    test('a private address and a sixth webhook are refused', async () => {
      const { operator, subscriptions, appKey } = await begin()
      await operator.condition('App', 'shop', 'Ready', 'True')
      const appRef = { name: 'shop' }
      await operator.apply('WebhookEndpoint', 'private', { url: 'https://10.0.0.1/hook', appRef })
      const wrong = await operator.condition('WebhookEndpoint', 'private', 'Stalled', 'True')
      expect(condition(wrong, 'Stalled')).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringContaining('url'),
      })
      for (let index = 0; index < 5; index++)
        await createWebhook(subscriptions, systemActor, appKey, {
          url: `${appUrl}/${index}`,
          events: [],
          enabled: true,
        })
      await operator.apply('WebhookEndpoint', 'sixth', { url: appUrl, appRef })
      const full = await operator.condition('WebhookEndpoint', 'sixth', 'Stalled', 'True')
      expect(condition(full, 'Stalled')).toMatchObject({ reason: 'Conflict', message: expect.stringContaining('5') })
    })

    test('an adopted app that the Namespace no longer lists keeps its webhook, disabled', async () => {
      const { operator, subscriptions, appKey, stored } = await begin()
      await operator.apply('WebhookEndpoint', 'events', { url: appUrl, appRef: { name: 'shop' } })
      await ready(operator)
      await subscriptions.collections.apps.updateOne({ app_key: appKey }, { $set: { adopted: true } })
      await until(async () => (await stored())[0]?.managed_by === undefined)
      expect((await stored())[0]?.enabled).toBe(false)
      await operator.removeAndWait('WebhookEndpoint', 'events')
      expect(await stored()).toHaveLength(1)
    })

    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    const others = { kind: 'App', namespace: 'others', name: 'shop', uid: 'uid-others' }
    test.each<[string, object, boolean]>([
      ['an adopted app is returned to the administrators', { $unset: { managed_by: 1 } }, false],
      ['an app that another namespace released', { $unset: { managed_by: 1 }, $set: { released_by: others } }, false],
      ['an app passes to another namespace', { $set: { managed_by: others } }, false],
      ['an app is deleted', { $unset: { live: 1 } }, false],
      ['an app passes to another namespace', { $set: { managed_by: others } }, true],
      ['an adopted app is returned to the administrators', { $unset: { managed_by: 1 } }, true],
    ])('%s: the webhook is left to it, disabled (%j, WebhookEndpoint deleted: %s)', async (_, change, isDeleted) => {
      const { operator, subscriptions, appKey, stored } = await begin()
      await operator.apply('WebhookEndpoint', 'events', { url: appUrl, appRef: { name: 'shop' } })
      await ready(operator)
      // The App resource does not act on what happens to the record.
      await operator.apply('App', 'shop', { appKey, appName: 'Shop' }, paused)
      await operator.condition('App', 'shop', 'Active', 'False')
      await subscriptions.collections.apps.updateOne({ app_key: appKey }, change)
      if (isDeleted) await operator.removeAndWait('WebhookEndpoint', 'events')
      else await operator.apply('WebhookEndpoint', 'events', { url: appUrl, appRef: { name: 'shop' }, events: [] })
      await until(async () => (await stored())[0]?.managed_by === undefined)
      expect(await stored()).toEqual([expect.objectContaining({ url: appUrl, enabled: false })])
      await until(async () => (await operator.events('events')).includes('AccessWithdrawn'))
    })

    test('a deleted App with Retain ends the webhook of an adopted app, and keeps that of an own one', async () => {
      const { operator, subscriptions, appKey, stored } = await begin()
      const spec = { url: appUrl, appRef: { name: 'shop' } }
      await operator.apply('WebhookEndpoint', 'events', spec)
      await ready(operator)
      const [before] = await stored()
      await operator.removeAndWait('App', 'shop')
      await operator.condition('WebhookEndpoint', 'events', 'Accepted', 'False')
      expect((await stored())[0]).toMatchObject({ _id: before?._id, enabled: true, managed_by: { name: 'events' } })

      // As the garbage collector of a cluster does.
      await operator.admin.request({ method: 'DELETE', path: secretPath(operator, 'shop-app') })
      await operator.apply('App', 'shop', { appKey, appName: 'Shop' })
      await operator.condition('App', 'shop', 'Ready', 'True')
      await operator.apply('WebhookEndpoint', 'events', { ...spec, events: [] })
      await operator.condition('WebhookEndpoint', 'events', 'Accepted', 'True')
      expect(await stored()).toEqual([expect.objectContaining({ _id: before?._id, enabled: true })])
      await operator.allowOwners(appKey)
      await subscriptions.collections.apps.updateOne({ app_key: appKey }, { $set: { adopted: true } })
      await operator.removeAndWait('App', 'shop')
      await until(async () => (await stored())[0]?.managed_by === undefined)
      expect(await stored()).toEqual([expect.objectContaining({ _id: before?._id, enabled: false })])
    })
  })
})
