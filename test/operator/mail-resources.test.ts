/** Domains, logins and tokens as resources, and the limits of what a namespace may do. */
import { readFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import { createLoginLimiter, loginLimits } from '../../services/accounts/login-limiter.ts'
import { ensureNamespaceAccount } from '../../services/accounts/namespace-account.ts'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { SmtpLogins } from '../../services/mail/credentials/check-smtp-login.ts'
import { parseToken, secretFits } from '../../services/mail/credentials/rules/token.ts'
import { credentials, findCredentialByName } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { findTokenById, tokens } from '../../services/mail/credentials/store/tokens.ts'
import { managersOfLimits } from '../../services/mail/declared-limits.ts'
import { findDomain, updateDomain, verifyDomain } from '../../services/mail/domains/store/domains.ts'
import { defaultLimits } from '../../services/mail/limits/find-limits.ts'
import { setLimit } from '../../services/mail/limits/manage-limits.ts'
import { limitsOfAccounts } from '../../services/mail/limits/store/sending-limits.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { verbatim } from '../../services/platform/sentences/compose.ts'
import { giveDomain, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { kstatusOf } from '../support/kubernetes/kstatus.ts'
import {
  type OperatorUnderTest,
  operatorUnderTest,
  type UnderTestOptions,
  untilYounger,
} from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

const DAY = 86_400_000

onApiServer('domains, logins and tokens', () => {
  const start = (more: Partial<UnderTestOptions> = {}) =>
    operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), ...more })
  /** An operator with an accepted MailDomain `example`. */
  const withDomain = async (more: Partial<UnderTestOptions> = {}) => {
    const operator = await start(more)
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    const { status } = await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    const user = await findUserByName(operator.mongo.db, `k8s-${operator.namespace}`)
    if (!user) throw new Error('no account')
    const domain = async () => {
      const found = await findDomain(operator.mongo.db, user._id, 'example.com')
      if (!found) throw new Error('no domain')
      return found
    }
    return { operator, user, domain, id: String(status?.domainId) }
  }
  /** Deletes a namespace. There is no namespace controller here: this ends the deletion as it does. */
  const deleteNamespace = async (operator: OperatorUnderTest, name: string) => {
    const path = `/api/v1/namespaces/${name}`
    await operator.admin.request({ method: 'DELETE', path })
    const seen = await operator.admin.request<object>({ method: 'GET', path })
    await operator.admin.request({
      method: 'PUT',
      path: `${path}/finalize`,
      body: { ...seen, spec: { finalizers: [] } },
    })
  }
  const held = async (operator: OperatorUnderTest, name: string) => {
    const secret = await operator.secret(name)
    if (!secret) throw new Error(`no Secret ${name}`)
    return secret
  }
  const smtp = async (operator: OperatorUnderTest) => {
    await ensureIndexes(operator.mongo.db, [loginLimits])
    const { db } = operator.mongo
    const { clock, log, secrets, metrics } = operator.foundation
    const limiter = createLoginLimiter({ db, metrics, channel: 'smtp' })
    const logins = new SmtpLogins({ db, clock, log, metrics, secrets, limiter })
    return (username = '', password = '') => logins.logIn(username, password, '192.0.2.1')
  }

  test('registers a MailDomain for the account of its namespace, reports its records, and sets Verified after verification', async () => {
    const { operator, user, domain, id } = await withDomain()
    expect(user.managed_by).toMatchObject({ kind: 'Namespace', name: operator.namespace })
    expect(await domain()).toMatchObject({ _id: id, managed_by: { kind: 'MailDomain', name: 'example' } })
    const waiting = await operator.get('MailDomain', 'example')
    expect(waiting?.status).toMatchObject({ owner: user.username, activeSelector: expect.stringMatching(/^pw\d/) })
    const records = (waiting?.status?.records ?? []) as { purpose: string }[]
    const purposes = records.map(({ purpose }) => purpose)
    expect(purposes).toEqual(expect.arrayContaining(['ownership', 'dkim', 'spf', 'dmarc', 'a']))
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    await operator.condition('MailDomain', 'example', 'Verified', 'True')
    await until(async () => (await domain()).k8s?.conditions.some(({ type }) => type === 'Verified') ?? false)
  })

  test('suspended: true suspends the domain until it is unset; a suspension by an admin stays', async () => {
    const { operator, id, domain } = await withDomain()
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', suspended: true })
    await until(async () => (await domain()).status === 'suspended')
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', suspended: false })
    await until(async () => (await domain()).status === 'verified')
    await updateDomain(operator.mongo.db, id, { status: 'suspended' })
    const { status } = await operator.condition('MailDomain', 'example', 'Verified', 'False')
    expect(status?.conditions?.find(({ type }) => type === 'Verified')).toMatchObject({ reason: 'Suspended' })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', spf: { includes: ['spf.example.net'] } })
    await until(async () => (await domain()).dns?.spf?.length === 1)
    expect((await domain()).status).toBe('suspended')
  })

  test('any SPF mechanism that the API takes is declared, and one that receivers cannot read is refused', async () => {
    const { operator, domain } = await withDomain()
    const declare = (...mechanisms: string[]) =>
      operator.apply('MailDomain', 'example', {
        domainName: 'example.com',
        spf: { includes: ['spf.example.net'], mechanisms },
      })
    await declare('ip4:192.0.2.0/24', 'mx:mail.example')
    const terms = ['include:spf.example.net', 'ip4:192.0.2.0/24', 'mx:mail.example']
    await until(async () => (await domain()).dns?.spf?.length === terms.length)
    expect((await domain()).dns?.spf).toEqual(terms)
    const spf = async () => {
      const records = (await operator.get('MailDomain', 'example'))?.status?.records as
        | { purpose: string }[]
        | undefined
      return records?.find(({ purpose }) => purpose === 'spf')
    }
    await until(async () => JSON.stringify(await spf()).includes('v=spf1 ip4:192.0.2.25 include:spf.example.net ip4:'))
    for (const wrong of ['ip4:192.0.2.0/33', 'a:no-dot', 'exists:%{x}.example']) {
      await declare(wrong)
      const refused = await operator.condition('MailDomain', 'example', 'Accepted', 'False')
      expect(refused.status?.conditions?.[0]).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringContaining(`spec.spf.mechanisms has ${wrong}, which`),
      })
      expect((await domain()).dns?.spf).toEqual(terms)
    }
    await declare()
    await until(async () => (await domain()).dns?.spf?.length === 1)
  })

  test('tracking follows the spec, and is off again when it is removed', async () => {
    const { operator, id, domain } = await withDomain()
    expect((await domain()).tracking).toBeUndefined()
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', tracking: { clicks: true } })
    await until(async () => (await domain()).tracking?.clicks === true)
    expect(await domain()).toMatchObject({ _id: id, tracking: { opens: false, clicks: true } })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await until(async () => !(await domain()).tracking?.clicks)
  })

  test('delivery follows the spec, with the address of a redirect, and stays when the spec no longer names it', async () => {
    const { operator, id, domain } = await withDomain()
    const spec = { domainName: 'example.com' }
    const delivery = async () => {
      const { delivery: mode, redirect_to } = await domain()
      return [mode, redirect_to]
    }
    expect(await delivery()).toEqual([undefined, undefined])
    await operator.apply('MailDomain', 'example', { ...spec, delivery: 'Redirect', redirectTo: 'qa@Team.example' })
    await until(async () => (await delivery())[0] === 'redirect')
    expect(await delivery()).toEqual(['redirect', 'qa@team.example'])
    await operator.apply('MailDomain', 'example', { ...spec, delivery: 'Capture' })
    await until(async () => (await delivery())[0] === 'capture')
    expect(await delivery()).toEqual(['capture', undefined])
    // A change by other means is taken back.
    await updateDomain(operator.mongo.db, id, {}, ['delivery'])
    await until(async () => (await delivery())[0] === 'capture')
    // A domain that captures must not send to people because a manifest does not mention it (ADR 120).
    const generation = async () => (await operator.get('MailDomain', 'example'))?.status?.observedGeneration
    const before = Number(await generation())
    await operator.apply('MailDomain', 'example', spec)
    await until(async () => Number(await generation()) > before)
    expect(await delivery()).toEqual(['capture', undefined])
    await operator.apply('MailDomain', 'example', { ...spec, delivery: 'Live' })
    await until(async () => (await delivery())[0] === undefined)
  })

  test('reverts a change of the database record and emits DriftReverted', async () => {
    const { operator, id, domain } = await withDomain()
    await until(async () => (await operator.get('MailDomain', 'example'))?.status?.domainId === id)
    await updateDomain(operator.mongo.db, id, { dns: { manage: false, spf: ['include:evil.example'] } })
    await until(async () => (await domain()).dns?.spf?.length === 0)
    await until(async () => (await operator.events('example')).includes('DriftReverted'))
  })

  test('an SMTP login works with its Secret, and its limits follow the spec', async () => {
    const { operator, user } = await withDomain()
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, messagesPerHour: 60 })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const secret = await held(operator, 'news-smtp')
    expect(secret).toMatchObject({
      type: 'smtp',
      provider: 'postwright',
      host: 'postwright-smtp.postwright.svc',
      port: '587',
      security: 'starttls',
      username: `news@${operator.namespace}`,
      uri: `smtp://news%40${operator.namespace}:${secret.password}@postwright-smtp.postwright.svc:587`,
    })
    const logIn = await smtp(operator)
    expect(await logIn(secret.username, secret.password)).toMatchObject({
      userId: user._id,
      allowedSenders: ['@example.com'],
      messagesPerHour: 60,
    })
    await operator.apply('SMTPCredential', 'news', {
      domainRef: { name: 'example' },
      messagesPerHour: 5,
      allowedCIDRs: ['10.0.0.0/8'],
      allowedSenders: ['News@example.com'],
    })
    await until(async () => {
      operator.clock.advance(3_000)
      return 'code' in (await logIn(secret.username, secret.password))
    })
    expect(await findCredentialByName(operator.mongo.db, secret.username ?? '')).toMatchObject({
      messages_per_hour: 5,
      allowed_senders: ['news@example.com'],
    })
    expect(await operator.secret('news-smtp')).toEqual(secret)
  })

  test('limits of a domain and a login are those of its owner: declared, bounded by the account, removed', async () => {
    const { operator, user, id } = await withDomain()
    const { mongo, clock, config } = operator.foundation
    const limits = async () => (await limitsOfAccounts(mongo.db, [user._id])).get(user._id) ?? []
    const deps = { mongo, clock, defaultLimits: defaultLimits(config), findSubject: async () => undefined }
    const account = { id: user._id, username: user.username, recipientsPerDay: 0 }
    const domain = (sendingLimits?: object) =>
      operator.apply('MailDomain', 'example', { domainName: 'example.com', ...(sendingLimits && { sendingLimits }) })
    await setLimit(deps, account, { scope: 'account', subject: '*', recipients_per_hour: 100 }, true)
    await domain({ recipientsPerSecond: '0.5', burst: 5, recipientsPerDay: 500 })
    await operator.apply('SMTPCredential', 'news', {
      domainRef: { name: 'example' },
      sendingLimits: { recipientsPerHour: 100 },
    })
    const login = await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    await until(async () => (await limits()).length === 3)
    expect(await limits()).toEqual([
      expect.objectContaining({ scope: 'account', perHour: 100, byAdmin: true }),
      expect.objectContaining({ scope: 'credential', subject: login.status?.credentialId, perHour: 100 }),
      expect.objectContaining({ scope: 'domain', subject: id, perSecond: 0.5, burst: 5, perDay: 500, byAdmin: false }),
    ])

    await domain({ recipientsPerHour: 101 })
    const refused = await operator.condition('MailDomain', 'example', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]).toMatchObject({
      reason: 'InvalidSpec',
      message: expect.stringContaining('spec.sendingLimits.recipientsPerHour'),
    })
    expect(kstatusOf(refused)).toBe('Failed')
    expect(await limits()).toContainEqual(expect.objectContaining({ scope: 'domain', perSecond: 0.5 }))
    await domain({ recipientsPerHour: 99 })
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    expect(await limits()).toContainEqual(
      expect.objectContaining({ scope: 'domain', perSecond: undefined, perHour: 99 }),
    )

    await domain()
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    expect(await limits()).toHaveLength(3)
    await domain({})
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    await until(async () => (await limits()).length === 2)
    // Server-side apply keeps an empty object also where it takes the place of limits.
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, sendingLimits: {} })
    await until(async () => (await limits()).length === 1)
  })

  test('a record says while its resource declares limits, an empty set of them included', async () => {
    const { operator, user, id } = await withDomain()
    const { db } = operator.mongo
    const seen = await operator.get('MailDomain', 'example')
    const domain = (more: object) => operator.apply('MailDomain', 'example', { domainName: 'example.com', ...more })
    const login = (more: object) =>
      operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, ...more })
    const declaring = async () => [...(await managersOfLimits(db, user._id))].map(([, { kind }]) => kind).toSorted()
    await login({ sendingLimits: { recipientsPerHour: 5 } })
    await until(async () => (await declaring()).join() === 'SMTPCredential')
    await domain({ sendingLimits: {} })
    await until(async () => (await declaring()).join() === 'MailDomain,SMTPCredential')
    expect((await managersOfLimits(db, user._id)).get(id)).toMatchObject({ name: 'example', uid: seen?.metadata.uid })
    await login({})
    await until(async () => (await declaring()).join() === 'MailDomain')
    await domain({})
    await until(async () => (await declaring()).length === 0)
    // What the resource declared last stays, and is its owner's.
    expect((await limitsOfAccounts(db, [user._id])).get(user._id)).toMatchObject([{ scope: 'credential', perHour: 5 }])
  })

  test('restores a lost Secret with the same password and reverts an edited one', async () => {
    const { operator } = await withDomain()
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const before = await held(operator, 'news-smtp')
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/news-smtp`
    await operator.admin.request({ method: 'DELETE', path })
    await until(async () => (await operator.secret('news-smtp')) !== undefined)
    expect(await operator.secret('news-smtp')).toEqual(before)
    await until(async () => (await operator.events('news')).includes('SecretRestored'))
    const data = { data: { password: Buffer.from('guess').toString('base64') } }
    await operator.admin.request({ method: 'PATCH', path, body: data, patch: 'merge' })
    await until(async () => (await held(operator, 'news-smtp')).password === before.password)
    await until(async () => (await operator.events('news')).includes('SecretReverted'))
  })

  test('rotates a password after its interval and accepts the previous one for another day', async () => {
    const { operator } = await withDomain()
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, rotationIntervalDays: 30 })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const old = await held(operator, 'news-smtp')
    operator.clock.advance(31 * DAY)
    await operator.apply(
      'SMTPCredential',
      'news',
      { domainRef: { name: 'example' }, rotationIntervalDays: 30 },
      { annotations: { look: 'again' } },
    )
    await until(async () => (await held(operator, 'news-smtp')).password !== old.password)
    const logIn = await smtp(operator)
    expect(await logIn(old.username, old.password)).toHaveProperty('userId')
    expect(await logIn(old.username, (await held(operator, 'news-smtp')).password)).toHaveProperty('userId')
    operator.clock.advance(DAY + 1)
    expect(await logIn(old.username, old.password)).toMatchObject({ code: 'invalid_login' })
    await until(async () => (await operator.events('news')).includes('PasswordRotated'))
  })

  test('rotates once although the Secret cannot be written at first, and the previous password keeps working', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const { operator } = await withDomain({ client: token => proxy.client(token) })
    const spec = { domainRef: { name: 'example' }, rotationIntervalDays: 30 }
    await operator.apply('SMTPCredential', 'news', spec)
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const old = await held(operator, 'news-smtp')
    let refused = 0
    proxy.failure = ({ method, path }) =>
      method === 'PATCH' && path.endsWith('/secrets/news-smtp') && ++refused <= 3
        ? { status: 500, reason: 'InternalError' }
        : undefined
    operator.clock.advance(31 * DAY)
    await operator.apply('SMTPCredential', 'news', spec, { annotations: { look: 'again' } })
    await until(async () => (await held(operator, 'news-smtp')).password !== old.password, 30_000)
    expect(refused).toBeGreaterThan(3)
    const logIn = await smtp(operator)
    expect(await logIn(old.username, old.password)).toHaveProperty('userId')
    expect(await logIn(old.username, (await held(operator, 'news-smtp')).password)).toHaveProperty('userId')
  })

  test('removes foreign keys from a Secret and restores its label', async () => {
    const { operator } = await withDomain()
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const before = await held(operator, 'news-smtp')
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/news-smtp`
    const edit = (body: object) => operator.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await edit({ data: { added: Buffer.from('by hand').toString('base64') } })
    await until(async () => (await held(operator, 'news-smtp')).added === undefined)
    expect(await held(operator, 'news-smtp')).toEqual(before)
    await edit({ metadata: { labels: { 'postwright.dev/secret': null } } })
    const labels = async () =>
      (await operator.admin.request<KubeObject>({ method: 'GET', path })).metadata.labels?.['postwright.dev/secret']
    await until(async () => (await labels()) === 'managed')
    await operator.admin.request({ method: 'DELETE', path })
    await until(async () => (await operator.secret('news-smtp')) !== undefined)
    expect(await held(operator, 'news-smtp')).toEqual(before)
  })

  test('writes its Secret after the foreign Secret of that name was deleted', async () => {
    const { operator } = await withDomain()
    const path = `/api/v1/namespaces/${operator.namespace}/secrets`
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'news-smtp' }, stringData: { mine: 'x' } }
    await operator.admin.request({ method: 'POST', path, body })
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'news', 'SecretSynced', 'False')
    expect(await held(operator, 'news-smtp')).toEqual({ mine: 'x' })
    await operator.admin.request({ method: 'DELETE', path: `${path}/news-smtp` })
    await operator.condition('SMTPCredential', 'news', 'SecretSynced', 'True')
  })

  test('a MailDomain that is deleted before its status was written leaves its record unmanaged', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    proxy.failure = ({ path }) =>
      path.endsWith('/example/status') ? { status: 500, reason: 'InternalError' } : undefined
    const operator = await start({ client: token => proxy.client(token) })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    const record = async () => {
      const user = await findUserByName(operator.mongo.db, `k8s-${operator.namespace}`)
      return user && findDomain(operator.mongo.db, user._id, 'example.com')
    }
    await until(async () => (await record())?.managed_by !== undefined)
    await operator.remove('MailDomain', 'example')
    proxy.failure = () => undefined
    await until(async () => (await operator.get('MailDomain', 'example')) === undefined, 20_000)
    expect(await record()).toBeDefined()
    expect((await record())?.managed_by).toBeUndefined()
  })

  test('a token has the mode, networks and capture of its spec, and scopes of the account only without a domain', async () => {
    const { operator } = await withDomain()
    const stored = async (secret: string) => {
      const parts = parseToken((await held(operator, secret)).token ?? '')
      return parts && findTokenById(operator.mongo.db, parts.id)
    }
    const of = (scopes: string[], more: object = {}) => ({ domainRef: { name: 'example' }, scopes, ...more })
    await operator.apply('APIToken', 'ci', of(['emails:send'], { capture: true, allowedCIDRs: ['10.0.0.0/8'] }))
    await operator.apply('APIToken', 'dry', of(['emails:send'], { mode: 'Test' }))
    await operator.apply('APIToken', 'texts', of(['templates:write', 'suppressions:read']))
    for (const name of ['ci', 'dry', 'texts']) await operator.condition('APIToken', name, 'Ready', 'True')
    const first = await held(operator, 'ci-token')
    const limits = { mode: 'live', capture: true, allowed_cidrs: ['10.0.0.0/8'], domains: ['example.com'] }
    expect(await stored('ci-token')).toMatchObject(limits)
    expect(await held(operator, 'dry-token')).toMatchObject({ token: expect.stringMatching(/^pw_test_/) })
    expect(await stored('dry-token')).toMatchObject({ mode: 'test', allowed_cidrs: [] })
    expect(await stored('texts-token')).toMatchObject({ scopes: ['templates:write', 'suppressions:read'], domains: [] })
    // Changes hold for the token that is in use; it keeps its value.
    await operator.apply('APIToken', 'ci', of(['emails:read'], { allowedCIDRs: ['192.0.2.0/24'] }))
    await until(async () => (await stored('ci-token'))?.scopes[0] === 'emails:read')
    expect(await stored('ci-token')).toMatchObject({ capture: false, allowed_cidrs: ['192.0.2.0/24'] })
    expect(await held(operator, 'ci-token')).toEqual(first)
    await operator.apply('APIToken', 'ci', of(['webhooks:read']))
    await until(async () => (await stored('ci-token'))?.domains.length === 0)
    await operator.apply('APIToken', 'ci', of(['emails:send']))
    await until(async () => (await stored('ci-token'))?.domains[0] === 'example.com')
    expect(await held(operator, 'ci-token')).toEqual(first)
  })

  test('a disabled login is refused, keeps its Secret, and works again when the spec says so', async () => {
    const { operator } = await withDomain()
    const logIn = await smtp(operator)
    const spec = { domainRef: { name: 'example' } }
    await operator.apply('SMTPCredential', 'news', spec)
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const { username, password } = await held(operator, 'news-smtp')
    expect(await logIn(username, password)).toHaveProperty('userId')
    const disabled = async () => (await findCredentialByName(operator.mongo.db, username ?? ''))?.disabled ?? false
    await operator.apply('SMTPCredential', 'news', { ...spec, disabled: true })
    await until(disabled)
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    expect(await (await smtp(operator))(username, password)).toMatchObject({ kind: 'refused' })
    expect(await held(operator, 'news-smtp')).toMatchObject({ username, password })
    await operator.apply('SMTPCredential', 'news', spec)
    await until(async () => !(await disabled()))
    expect(await (await smtp(operator))(username, password)).toHaveProperty('userId')
  })

  test.each([
    ['of 2,000 characters is shown whole', 2_000, 2_000],
    ['that exceeds the schema is cut', 6_000, 2_048],
  ])('a DKIM finding %s, and the API server takes the status', async (_what, length, shown) => {
    const { operator, domain, id } = await withDomain()
    const [dkim] = (await domain()).dkim
    const finding = 'k'.repeat(length)
    await updateDomain(operator.mongo.db, id, {
      check: {
        ...{ at: operator.clock.now(), attempts: 1, failures: 1, errors: [] },
        records: [
          {
            ...{ row: `dkim:${dkim?.selector}`, status: 'failed', observed: ['v=DKIM1; p='], warnings: [] },
            ...{ errors: [verbatim(finding)], instructions: [] },
          },
        ],
      },
    })
    const { status } = await operator.condition('MailDomain', 'example', 'DKIMReady', 'False')
    const records = (status?.records ?? []) as { purpose: string; message?: string }[]
    const message = records.find(({ purpose }) => purpose === 'dkim')?.message ?? ''
    expect(message).toHaveLength(shown)
    expect(message.startsWith('k'.repeat(1_900))).toBe(true)
    expect(status?.conditions?.find(({ type }) => type === 'DKIMReady')?.message.length).toBe(Math.min(length, 4_096))
  })

  test('a token works with its Secret, is renewed before it expires, and is revoked with its resource', async () => {
    const { operator } = await withDomain()
    const spec = { domainRef: { name: 'example' }, validForDays: 30, rotateBeforeDays: 5 }
    await operator.apply('APIToken', 'ci', spec)
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    const first = await held(operator, 'ci-token')
    const stored = async ({ token = '' }: Record<string, string>) => {
      const parts = parseToken(token)
      if (!parts) throw new Error('no token')
      const document = await findTokenById(operator.mongo.db, parts.id)
      return document && secretFits(parts.secret, document.secret_hash) ? document : undefined
    }
    expect(await stored(first)).toMatchObject({ scopes: ['emails:send'], domains: ['example.com'] })
    operator.clock.advance(26 * DAY)
    await operator.apply('APIToken', 'ci', spec, { annotations: { look: 'again' } })
    await until(async () => (await held(operator, 'ci-token')).token !== first.token)
    const before = await stored(first)
    expect(before?.expires_at?.getTime()).toBeLessThanOrEqual(operator.clock.now().getTime() + DAY)
    const second = await held(operator, 'ci-token')
    await operator.removeAndWait('APIToken', 'ci')
    expect((await stored(second))?.revoked_at).toBeInstanceOf(Date)
  })

  test('deleting a MailDomain keeps the domain by default and removes it with policy Delete', async () => {
    const { operator, user, domain } = await withDomain()
    await operator.removeAndWait('MailDomain', 'example')
    expect((await domain()).managed_by).toBeUndefined()
    await operator.apply('MailDomain', 'other', { domainName: 'other.example', deletionPolicy: { domain: 'Delete' } })
    await operator.condition('MailDomain', 'other', 'Accepted', 'True')
    await operator.remove('MailDomain', 'other')
    await until(async () => (await findDomain(operator.mongo.db, user._id, 'other.example')) === undefined)
  })

  test('deleting a MailDomain suspends its domain at once, and the same manifest resumes it without an annotation', async () => {
    const { operator, domain, id } = await withDomain()
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    await operator.removeAndWait('MailDomain', 'example')
    expect(await domain()).toMatchObject({ _id: id, status: 'suspended', suspended_by: 'resource' })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    // Its records were never ours, so that its proof still counts.
    expect(await domain()).toMatchObject({ _id: id, status: 'verified', managed_by: { name: 'example' } })
    expect(await domain()).not.toHaveProperty('suspended_by')
  })

  test('deletionPolicy.sending Continue leaves a deleted domain open for mail', async () => {
    const { operator, domain, id } = await withDomain()
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    const spec = { domainName: 'example.com', deletionPolicy: { sending: 'Continue' } }
    await operator.apply('MailDomain', 'example', spec)
    await operator.removeAndWait('MailDomain', 'example')
    expect(await domain()).toMatchObject({ status: 'verified' })
  })

  test('a deleted namespace releases its domains: they are suspended, have to be proven again, and are free for others', async () => {
    const other = await extraNamespace(sharedApiServer())
    const { operator, domain, id } = await withDomain({ namespaces: [other] })
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    const spec = { domainName: 'example.com', deletionPolicy: { sending: 'Continue' } }
    await operator.apply('MailDomain', 'example', spec)
    await operator.removeAndWait('MailDomain', 'example')
    expect((await domain()).status).toBe('verified')
    // Another namespace may claim the name, and has it as soon as no other account has proven it.
    await operator.apply('MailDomain', 'next', { domainName: 'example.com' }, {}, other)
    const claimed = await operator.condition('MailDomain', 'next', 'Accepted', 'True', other)
    const next = String(claimed.status?.domainId)
    expect(next).not.toBe(id)
    const proveNext = () => verifyDomain(operator.mongo.db, next, 'dns', operator.clock.now())
    expect(await proveNext()).toBe('taken')
    await deleteNamespace(operator, operator.namespace)
    await until(async () => (await domain()).status === 'suspended')
    expect(await domain()).toMatchObject({ _id: id, suspended_by: 'resource' })
    expect(await domain()).not.toHaveProperty('verified_by')
    expect(await proveNext()).toMatchObject({ _id: next, status: 'verified' })
    await operator.condition('MailDomain', 'next', 'Verified', 'True', other)
    expect((await domain()).status).toBe('suspended')
  })

  test('an operator that starts later releases the domains of a namespace that is gone, but none that a resource manages', async () => {
    const other = await extraNamespace(sharedApiServer())
    const operator = await start({ namespaces: [other] })
    const { db } = operator.mongo
    await operator.running.stop()
    const account = await ensureNamespaceAccount(operator.foundation, `k8s-${other}`, other)
    await giveDomain(db, account._id, 'left.example', { status: 'verified', verified_by: 'dns' })
    const kept = await giveDomain(db, account._id, 'kept.example', { status: 'verified', verified_by: 'dns' })
    const managed_by = { kind: 'MailDomain', namespace: other, name: 'kept', uid: 'u' }
    await updateDomain(db, kept._id, { managed_by })
    await deleteNamespace(operator, other)
    await operator.another()
    await until(async () => (await findDomain(db, account._id, 'left.example'))?.status === 'suspended')
    expect(await findDomain(db, account._id, 'kept.example')).toMatchObject({ status: 'verified', managed_by })
  })

  test.each([
    ['delivered', 0],
    ['given five minutes', 300_000],
  ])('a MailDomain whose domain is deleted stays suspended until its accepted mail is %s', async (_how, later) => {
    const { operator, user, domain, id } = await withDomain()
    await verifyDomain(operator.mongo.db, id, 'dns', operator.clock.now())
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', deletionPolicy: { domain: 'Delete' } })
    const messages = operator.mongo.db.collection<{ _id: string }>('messages')
    await messages.insertOne({ _id: 'em_1', user_id: user._id, domain_id: id, left: 2 } as { _id: string })
    await operator.remove('MailDomain', 'example')
    const going = await operator.condition('MailDomain', 'example', 'QueueDrained', 'False')
    expect(going.status?.conditions?.[0]).toMatchObject({
      reason: 'Draining',
      message: expect.stringContaining('Accepted messages: 1. They may still be delivered'),
    })
    expect((await domain()).status).toBe('suspended')
    if (later === 0) await messages.updateOne({ _id: 'em_1' }, { $set: { left: 0 } })
    else operator.clock.advance(later)
    await until(async () => (await operator.get('MailDomain', 'example')) === undefined, 20_000)
    expect(await findDomain(operator.mongo.db, user._id, 'example.com')).toBeUndefined()
  })

  test('the older of two MailDomains with one name holds the domain, and the younger takes over when it is deleted', async () => {
    const { operator, domain, id } = await withDomain()
    await operator.apply('MailDomain', 'twin', { domainName: 'example.com' })
    const loser = await operator.condition('MailDomain', 'twin', 'Accepted', 'False')
    expect(loser.status?.conditions?.[0]).toMatchObject({ reason: 'DomainTaken' })
    await operator.remove('MailDomain', 'example')
    await operator.condition('MailDomain', 'twin', 'Accepted', 'True')
    expect(await domain()).toMatchObject({ _id: id, managed_by: { name: 'twin' } })
  })

  test('a resource whose operator is gone is released by the patch of the installation guide', async () => {
    const { operator, domain } = await withDomain()
    await operator.running.stop()
    await operator.remove('MailDomain', 'example')
    expect((await operator.get('MailDomain', 'example'))?.metadata.deletionTimestamp).toBeDefined()
    const guide = await readFile('docs/install.md', 'utf8')
    const patch = /kubectl patch .*"\$name" .* --type merge --patch '(?<body>[^']+)'/.exec(guide)?.groups?.body ?? ''
    const path = `/apis/postwright.dev/v1beta1/namespaces/${operator.namespace}/maildomains/example`
    await operator.admin.request({ method: 'PATCH', path, body: JSON.parse(patch) as object, patch: 'merge' })
    await until(async () => (await operator.get('MailDomain', 'example')) === undefined)
    expect((await domain()).managed_by).toBeDefined()
  })

  test('force-delete removes a resource without cleaning up', async () => {
    const { operator, domain } = await withDomain()
    const spec = { domainName: 'example.com', deletionPolicy: { domain: 'Delete' } }
    await operator.apply('MailDomain', 'example', spec, { annotations: { 'postwright.dev/force-delete': 'true' } })
    await operator.removeAndWait('MailDomain', 'example')
    expect((await domain()).managed_by).toBeDefined()
  })

  test('a namespace cannot act for another account', async () => {
    const operator = await start()
    const { db } = operator.mongo
    const ann = await giveUser(db, { username: 'ann' })
    await giveDomain(db, ann._id, 'ann.example', { status: 'verified', verified_by: 'dns' })
    await giveUser(db, { username: 'k8s-bank' })
    const reason = async (kind: string, name: string, type = 'Accepted') => {
      const { status } = await operator.condition(kind, name, type, 'False')
      return status?.conditions?.find(condition => condition.type === type)?.reason
    }
    await operator.apply(
      'MailDomain',
      'steal',
      { domainName: 'ann.example', owner: { username: 'ann' } },
      { annotations: { 'postwright.dev/adopt': 'true' } },
    )
    expect(await reason('MailDomain', 'steal')).toBe('OwnerNotAllowed')
    await operator.apply('MailDomain', 'bank', { domainName: 'bank.example', owner: { username: 'k8s-bank' } })
    expect(await reason('MailDomain', 'bank')).toBe('OwnerNotAllowed')
    // A registration of the same name by its own account gives nothing: it cannot be verified next to the owner's.
    await operator.apply('MailDomain', 'claim', { domainName: 'ann.example' })
    const { status } = await operator.condition('MailDomain', 'claim', 'Accepted', 'True')
    expect(await verifyDomain(db, String(status?.domainId), 'dns', operator.clock.now())).toBe('taken')
    // Logins of a rejected domain, senders outside of the domain, names of other accounts.
    await operator.apply('SMTPCredential', 'refused', { domainRef: { name: 'steal' } })
    expect(await reason('SMTPCredential', 'refused')).toBe('DependencyNotReady')
    await operator.apply('SMTPCredential', 'outside', {
      domainRef: { name: 'claim' },
      allowedSenders: ['ceo@bank.example'],
    })
    expect(await reason('SMTPCredential', 'outside')).toBe('InvalidSpec')
    await operator.apply('APIToken', 'refused', { domainRef: { name: 'steal' } })
    expect(await reason('APIToken', 'refused')).toBe('DependencyNotReady')
  })

  test('a forged status that names another account gives no login and no token of that account', async () => {
    const { operator } = await withDomain()
    const { db } = operator.mongo
    const ann = await giveUser(db, { username: 'ann' })
    await giveDomain(db, ann._id, 'ann.example', { status: 'verified', verified_by: 'dns' })
    const claims = [
      ['steal', { domainName: 'ann.example', owner: { username: 'ann' } }, 'False'],
      ['claim', { domainName: 'ann.example' }, 'True'],
    ] as const
    for (const [name, spec, accepted] of claims) {
      await operator.apply('MailDomain', name, spec)
      await operator.condition('MailDomain', name, 'Accepted', accepted)
      await operator.forgeStatus('MailDomain', name, { owner: 'ann' })
      await operator.apply('SMTPCredential', name, { domainRef: { name } })
      await operator.apply('APIToken', name, { domainRef: { name } })
    }
    for (const kind of ['SMTPCredential', 'APIToken']) {
      await operator.condition(kind, 'steal', 'Accepted', 'Unknown')
      await operator.condition(kind, 'claim', 'Accepted', 'True')
    }
    const mine = await findUserByName(db, `k8s-${operator.namespace}`)
    for (const collection of [credentials, tokens] as const)
      expect(
        (await db.collection<{ user_id: string }>(collection.name).find().toArray()).map(({ user_id }) => user_id),
      ).toEqual([mine?._id])
  })

  describe('a MailDomain that names an account which its namespace may not act for', () => {
    /** Two namespaces: the own account of one is `victim`, and the MailDomain `squat` in the other names that account. */
    const withStranger = async () => {
      const stranger = await extraNamespace(sharedApiServer())
      const operator = await start({ namespaces: [stranger] })
      const victim = `k8s-${operator.namespace}`
      const spec = { domainName: 'example.com', deletionPolicy: { domain: 'Delete' } }
      const squat = () => operator.apply('MailDomain', 'squat', { ...spec, owner: { username: victim } }, {}, stranger)
      const record = async () => {
        const user = await findUserByName(operator.mongo.db, victim)
        return user && (await findDomain(operator.mongo.db, user._id, 'example.com'))
      }
      return { operator, stranger, squat, record }
    }

    test('does not block a MailDomain of that account, even if it is older', async () => {
      const { operator, stranger, squat, record } = await withStranger()
      await untilYounger(await squat())
      await operator.condition('MailDomain', 'squat', 'Accepted', 'False', stranger)
      await operator.apply('MailDomain', 'mine', { domainName: 'example.com' })
      await operator.condition('MailDomain', 'mine', 'Accepted', 'True')
      expect((await record())?.managed_by?.name).toBe('mine')
    })

    test('waits, once it is permitted, for the MailDomain that holds the domain, even if it is older', async () => {
      const { operator, stranger, squat, record } = await withStranger()
      await untilYounger(await squat())
      await operator.condition('MailDomain', 'squat', 'Accepted', 'False', stranger)
      await operator.apply('MailDomain', 'mine', { domainName: 'example.com' })
      await operator.condition('MailDomain', 'mine', 'Accepted', 'True')
      await operator.allowOwners(`k8s-${operator.namespace}`, stranger)
      const squatters = async () => (await operator.get('MailDomain', 'squat', stranger))?.status?.conditions
      await until(
        async () => (await squatters())?.find(({ type }) => type === 'Accepted')?.reason !== 'OwnerNotAllowed',
      )
      expect((await squatters())?.[0]).toMatchObject({ reason: 'DomainTaken' })
      await operator.apply('MailDomain', 'mine', { domainName: 'example.com', suspended: true })
      await operator.condition('MailDomain', 'mine', 'Accepted', 'True')
      expect(await record()).toMatchObject({ managed_by: { name: 'mine' }, status: 'suspended' })
      // In a restored cluster the resource has another uid than the record.
      await operator.mongo.db
        .collection('domains')
        .updateOne({ name: 'example.com' }, { $set: { 'managed_by.uid': 'before the restore' } })
      await operator.apply('MailDomain', 'mine', { domainName: 'example.com' })
      await operator.condition('MailDomain', 'mine', 'Accepted', 'True')
      await operator.remove('MailDomain', 'mine')
      await operator.condition('MailDomain', 'squat', 'Accepted', 'True', stranger)
      expect((await record())?.managed_by?.name).toBe('squat')
    })

    test('does not inherit a domain that the account keeps, and removes nothing of it when it is deleted', async () => {
      const { operator, stranger, squat, record } = await withStranger()
      await operator.apply('MailDomain', 'mine', { domainName: 'example.com' })
      await operator.condition('MailDomain', 'mine', 'Accepted', 'True')
      await squat()
      const { status } = await operator.condition('MailDomain', 'squat', 'Accepted', 'False', stranger)
      expect(status?.conditions?.[0]).toMatchObject({ reason: 'OwnerNotAllowed' })
      await operator.removeAndWait('MailDomain', 'mine')
      expect((await record())?.managed_by).toBeUndefined()
      await operator.removeAndWait('MailDomain', 'squat', stranger)
      expect(await record()).toBeDefined()
    })
  })

  test('accepts an owner while the Namespace lists it and its account exists', async () => {
    const operator = await start()
    const reason = async (wanted: string) => {
      await until(async () => {
        const conditions = (await operator.get('MailDomain', 'ann'))?.status?.conditions
        return conditions?.find(({ type }) => type === 'Accepted')?.reason === wanted
      })
    }
    await operator.apply('MailDomain', 'ann', { domainName: 'ann.example', owner: { username: 'ann' } })
    await reason('OwnerNotAllowed')
    await operator.allowOwners('ann')
    await reason('OwnerNotFound')
    await giveUser(operator.mongo.db, { username: 'ann' })
    await reason('Accepted')
    await operator.allowOwners(null)
    await reason('OwnerNotAllowed')
  })

  describe('a Namespace that no longer lists the account', () => {
    /** An operator with a MailDomain of the user ann, whose login and token are in use. */
    const withAnn = async (more: Partial<UnderTestOptions> = {}) => {
      const operator = await start(more)
      const { db } = operator.mongo
      const ann = await giveUser(db, { username: 'ann' })
      await operator.allowOwners('bob, ann')
      const deletionPolicy = { domain: 'Delete', dns: 'Delete' }
      const spec = { domainName: 'ann.example', owner: { username: 'ann' }, deletionPolicy }
      await operator.apply('MailDomain', 'ann', spec)
      await operator.condition('MailDomain', 'ann', 'Accepted', 'True')
      await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'ann' } })
      await operator.apply('APIToken', 'ci', { domainRef: { name: 'ann' } })
      await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
      await operator.condition('APIToken', 'ci', 'Ready', 'True')
      const login = await held(operator, 'news-smtp')
      const { token = '' } = await held(operator, 'ci-token')
      const record = async () => {
        const found = await findDomain(db, ann._id, 'ann.example')
        if (!found) throw new Error("ann's domain is gone")
        return found
      }
      const credential = () => findCredentialByName(db, login.username ?? '')
      const revoked = async (value = token) => (await findTokenById(db, parseToken(value)?.id ?? ''))?.revoked_at
      const logIn = await smtp(operator)
      const mayLogIn = async () => {
        operator.clock.advance(3_000)
        return 'userId' in (await logIn(login.username, login.password))
      }
      const withdrawn = () => until(async () => (await credential())?.disabled === true && !!(await revoked()))
      return { operator, ann, spec, login, token, record, credential, revoked, mayLogIn, withdrawn }
    }
    const refused = async (operator: OperatorUnderTest, kind: string, name: string) => {
      await until(async () => {
        const conditions = (await operator.get(kind, name))?.status?.conditions
        return conditions?.find(({ type }) => type === 'Accepted')?.reason === 'OwnerNotAllowed'
      })
    }

    test('disables its logins and tokens immediately and returns the domain to the account', async () => {
      const { operator, record, credential, mayLogIn, withdrawn } = await withAnn()
      expect(await mayLogIn()).toBe(true)
      await operator.allowOwners('bob')
      await withdrawn()
      expect(await mayLogIn()).toBe(false)
      await until(async () => (await record()).managed_by === undefined)
      for (const [kind, name] of [
        ['MailDomain', 'ann'],
        ['SMTPCredential', 'news'],
      ] as const)
        await refused(operator, kind, name)
      await until(async () => (await operator.events('news')).includes('AccessWithdrawn'))
      await until(async () => (await operator.events('ann')).includes('AccessWithdrawn'))
      // Resources that are created afterwards get nothing either.
      await operator.apply('SMTPCredential', 'late', { domainRef: { name: 'ann' } })
      await operator.condition('SMTPCredential', 'late', 'Accepted', 'False')
      expect(await operator.secret('late-smtp')).toBeUndefined()
      expect((await credential())?.managed_by?.name).toBe('news')
    })

    test('deletes nothing of the account, whatever the deletion policies are', async () => {
      const { operator, record, credential, revoked, withdrawn } = await withAnn()
      await operator.allowOwners(null)
      await withdrawn()
      for (const [kind, name] of [
        ['SMTPCredential', 'news'],
        ['APIToken', 'ci'],
        ['MailDomain', 'ann'],
      ] as const)
        await operator.removeAndWait(kind, name)
      expect((await record()).dkim).toHaveLength(1)
      expect(await credential()).toMatchObject({ disabled: true })
      expect((await credential())?.managed_by).toBeUndefined()
      expect(await revoked()).toBeInstanceOf(Date)
    })

    test('deletes nothing of the account if its resources are deleted before the operator sees the change', async () => {
      const { operator, record, credential, revoked } = await withAnn()
      await operator.running.stop()
      await operator.allowOwners(null)
      for (const [kind, name] of [
        ['MailDomain', 'ann'],
        ['SMTPCredential', 'news'],
        ['APIToken', 'ci'],
      ] as const)
        await operator.remove(kind, name)
      await operator.another()
      for (const [kind, name] of [
        ['MailDomain', 'ann'],
        ['SMTPCredential', 'news'],
        ['APIToken', 'ci'],
      ] as const)
        await until(async () => (await operator.get(kind, name)) === undefined)
      expect((await record()).managed_by).toBeUndefined()
      expect(await credential()).toMatchObject({ disabled: true })
      expect(await revoked()).toBeInstanceOf(Date)
    })

    test('restores the domain, the login and a new token when it lists the account again', async () => {
      const { operator, record, token, revoked, mayLogIn, withdrawn } = await withAnn()
      await operator.allowOwners(null)
      await withdrawn()
      await until(async () => (await record()).managed_by === undefined)
      await refused(operator, 'MailDomain', 'ann') // the status is written after the record
      await operator.allowOwners('ann')
      await operator.condition('MailDomain', 'ann', 'Accepted', 'True')
      expect(await record()).toMatchObject({ managed_by: { name: 'ann' } })
      expect(await record()).not.toHaveProperty('formerly_managed_by')
      await until(mayLogIn)
      await until(async () => (await held(operator, 'ci-token')).token !== token)
      expect(await revoked((await held(operator, 'ci-token')).token)).toBeUndefined()
    })

    test("keeps the account's login when the MailDomain is created again for the account of the namespace", async () => {
      const { operator, ann, spec, credential, mayLogIn, withdrawn } = await withAnn()
      const { _id } = (await credential()) ?? {}
      const stillThere = async () =>
        expect(await credential()).toMatchObject({
          _id,
          user_id: ann._id,
          disabled: true,
          managed_by: { name: 'news' },
        })
      const conflict = () =>
        until(async () => {
          const conditions = (await operator.get('SMTPCredential', 'news'))?.status?.conditions
          return conditions?.find(({ type }) => type === 'Accepted')?.reason === 'Conflict'
        })
      await operator.allowOwners(null)
      await withdrawn()
      await operator.removeAndWait('MailDomain', 'ann')
      await operator.apply('MailDomain', 'ann', { domainName: 'own.example' })
      await operator.condition('MailDomain', 'ann', 'Accepted', 'True')
      await conflict()
      await stillThere()
      // Even if the account is listed again, the namespace's own MailDomain does not take over the login.
      await operator.allowOwners('ann')
      const message = async () =>
        (await operator.get('SMTPCredential', 'news'))?.status?.conditions?.find(({ type }) => type === 'Accepted')
          ?.message
      await until(async () => (await message())?.endsWith('is taken.') === true)
      await stillThere()
      await operator.removeAndWait('MailDomain', 'ann')
      await operator.apply('MailDomain', 'ann', spec, { annotations: { 'postwright.dev/adopt': 'true' } })
      await operator.condition('MailDomain', 'ann', 'Accepted', 'True')
      await until(mayLogIn)
      expect(await credential()).toMatchObject({ _id, user_id: ann._id })
    })

    test('transfers the domain to the MailDomain of a namespace that still lists the account', async () => {
      const other = await extraNamespace(sharedApiServer())
      const { operator, spec, record, withdrawn } = await withAnn({ namespaces: [other] })
      await operator.allowOwners('ann', other)
      await operator.apply('MailDomain', 'successor', spec, {}, other)
      await operator.condition('MailDomain', 'successor', 'Accepted', 'False', other)
      await operator.allowOwners(null)
      await withdrawn()
      await operator.condition('MailDomain', 'successor', 'Accepted', 'True', other)
      expect((await record()).managed_by).toMatchObject({ namespace: other, name: 'successor' })
    })

    test("keeps the resources of the namespace's own account", async () => {
      const { operator, withdrawn } = await withAnn()
      await operator.apply('MailDomain', 'own', { domainName: 'own.example' })
      await operator.condition('MailDomain', 'own', 'Accepted', 'True')
      await operator.apply('SMTPCredential', 'own', { domainRef: { name: 'own' } })
      await operator.condition('SMTPCredential', 'own', 'Ready', 'True')
      await operator.allowOwners(null)
      await withdrawn()
      await operator.condition('SMTPCredential', 'own', 'Ready', 'True')
      expect(await findCredentialByName(operator.mongo.db, `own@${operator.namespace}`)).not.toMatchObject({
        disabled: true,
      })
    })
  })

  test('a MailDomain that is created again for another account replaces its login and its token', async () => {
    const { operator, user } = await withDomain()
    const { db } = operator.mongo
    const ann = await giveUser(db, { username: 'ann' })
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    await operator.apply('APIToken', 'ci', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    const before = { ...(await held(operator, 'news-smtp')), ...(await held(operator, 'ci-token')) }
    await operator.allowOwners('ann')
    await operator.removeAndWait('MailDomain', 'example')
    await operator.apply('MailDomain', 'example', { domainName: 'ann.example', owner: { username: 'ann' } })
    await until(async () => (await findCredentialByName(db, `news@${operator.namespace}`))?.user_id === ann._id)
    await until(async () => (await held(operator, 'news-smtp')).password !== before.password)
    await until(async () => (await held(operator, 'ci-token')).token !== before.token)
    const logIn = await smtp(operator)
    const { username = '', password = '' } = await held(operator, 'news-smtp')
    expect(await logIn(username, password)).toMatchObject({ userId: ann._id, allowedSenders: ['@ann.example'] })
    expect(await logIn(username, before.password)).not.toHaveProperty('userId')
    const left = await db.collection<{ user_id: string; revoked_at?: Date }>(tokens.name).find().toArray()
    expect(left.map(({ user_id, revoked_at }) => [user_id, revoked_at === undefined])).toEqual([
      [user._id, false],
      [ann._id, true],
    ])
    expect(await operator.events('news')).not.toContain('DriftReverted')
  })

  test('names the send API at the public address or inside the cluster', async () => {
    const { operator } = await withDomain()
    await operator.apply('APIToken', 'ci', { domainRef: { name: 'example' } })
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    const { endpoint, token } = await held(operator, 'ci-token')
    expect(endpoint).toBe('https://mail.postwright.test/api/send')
    await operator.apply('APIToken', 'ci', { domainRef: { name: 'example' }, endpoint: 'Cluster' })
    await until(async () => (await held(operator, 'ci-token')).endpoint !== endpoint)
    expect(await held(operator, 'ci-token')).toMatchObject({
      endpoint: 'http://postwright-send.postwright.svc/api/send',
      token,
    })
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    expect(await operator.events('ci')).not.toContain('TokenRotated')
  })

  test('replaces a token that was changed in its Secret by a valid one', async () => {
    const { operator } = await withDomain()
    await operator.apply('APIToken', 'ci', { domainRef: { name: 'example' } })
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    const { token = '' } = await held(operator, 'ci-token')
    const wrong = `${token.slice(0, -3)}xxx`
    const body = { data: { token: Buffer.from(wrong).toString('base64') } }
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/ci-token`
    await operator.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await until(async () => (await held(operator, 'ci-token')).token !== wrong)
    const { token: now = '' } = await held(operator, 'ci-token')
    const parts = parseToken(now)
    const stored = parts && (await findTokenById(operator.mongo.db, parts.id))
    expect(stored && secretFits(parts.secret, stored.secret_hash)).toBe(true)
  })

  test('reports a Secret that the API server rejects, with its message, until it accepts the write', async () => {
    const { operator } = await withDomain()
    const login = (more: object = {}) =>
      operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, ...more })
    await login()
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/news-smtp`
    await operator.admin.request({ method: 'PATCH', path, body: { immutable: true }, patch: 'merge' })
    await login({ endpoint: 'Public' })
    const { status } = await operator.condition('SMTPCredential', 'news', 'SecretSynced', 'False')
    expect(status?.conditions?.[0]).toMatchObject({
      type: 'Ready',
      reason: 'WriteRefused',
      message: expect.stringMatching(/^The API server refuses to write the Secret news-smtp: .*immutable/),
    })
    await operator.admin.request({ method: 'DELETE', path })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    expect((await held(operator, 'news-smtp')).host).toBe('mail.postwright.test')
  })

  test('an owner that the Namespace lists is accepted, and its existing domain is taken over with the adopt annotation', async () => {
    const operator = await start()
    const { db } = operator.mongo
    const ann = await giveUser(db, { username: 'ann' })
    const mine = await giveDomain(db, ann._id, 'ann.example', { status: 'verified', verified_by: 'dns' })
    await operator.allowOwners('ann')
    const spec = { domainName: 'ann.example', owner: { username: 'ann' } }
    await operator.apply('MailDomain', 'ann', spec)
    const refused = await operator.condition('MailDomain', 'ann', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]).toMatchObject({ reason: 'Conflict' })
    await operator.apply('MailDomain', 'ann', spec, { annotations: { 'postwright.dev/adopt': 'true' } })
    await operator.condition('MailDomain', 'ann', 'Accepted', 'True')
    expect((await findDomain(db, ann._id, 'ann.example'))?.managed_by?.name).toBe('ann')
    expect((await findDomain(db, ann._id, 'ann.example'))?._id).toBe(mine._id)
  })
})
