/** Secrets as people leave them: octets that are no text, keys that are missing, names of another namespace. */
import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import type { SecretObject } from '../../operator/kube/object-writer.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { type OperatorUnderTest, operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

/** Octets that are no UTF-8: a lone continuation, an overlong slash, a surrogate, a beginning without an end. */
const NO_TEXT = Buffer.from([0x80, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xe2, 0x82]).toString('base64')

onApiServer('Secrets', () => {
  const start = (namespaces: readonly string[] = []) =>
    operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), namespaces })
  const path = (o: OperatorUnderTest, name: string) => `/api/v1/namespaces/${o.namespace}/secrets/${name}`
  const edit = (o: OperatorUnderTest, name: string, body: object) =>
    o.admin.request({ method: 'PATCH', path: path(o, name), body, patch: 'merge' })
  const make = (o: OperatorUnderTest, name: string, data: Record<string, string>, namespace = o.namespace) =>
    o.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data },
    })
  const reasonOf = async (o: OperatorUnderTest, kind: string, name: string, type: string) => {
    const { status } = await o.condition(kind, name, type, 'False')
    return status?.conditions?.find(one => one.type === type)
  }

  test.each([
    ['SMTPCredential', 'smtp', 'password'],
    ['APIToken', 'token', 'token'],
    ['App', 'app', 'app-secret'],
  ])('a %s puts its Secret -%s right when octets that are no text stand under %s', async (kind, suffix, key) => {
    const o = await start()
    await o.apply('MailDomain', 'example', { domainName: 'example.com' })
    await o.apply(kind, 'one', kind === 'App' ? { appKey: 'shop', appName: 'S' } : { domainRef: { name: 'example' } })
    await o.condition(kind, 'one', 'Ready', 'True')
    const name = `one-${suffix}`
    const before = await o.secret(name)
    await edit(o, name, { data: { [key]: NO_TEXT, extra: NO_TEXT } })
    const raw = async () => (await o.admin.request<SecretObject>({ method: 'GET', path: path(o, name) })).data
    await until(async () => (await raw())?.[key] !== NO_TEXT && (await raw())?.extra === undefined)
    const after = await o.secret(name)
    expect(Object.keys(after ?? {}).sort()).toEqual(Object.keys(before ?? {}).sort())
    // A password can be read back; of the others only hashes are kept, so they are made anew.
    if (kind === 'SMTPCredential') expect(after).toEqual(before)
    else expect(after?.[key]).toMatch(/^[\x21-\x7e]{20,}$/)
  })

  test.each<[string, object, Record<string, string>, RegExp]>([
    ['octets that are no text', { type: 'cloudflare' }, { api_token: NO_TEXT }, /api_token/],
    ['nothing', { type: 'cloudflare' }, {}, /has no key api_token/],
    ['an empty value', { type: 'cloudflare' }, { api_token: '' }, /wrong value under api_token/],
    [
      'the key of another provider',
      { type: 'aliyun' },
      { api_token: 'YQ==' },
      /no key access_key_id.*access_key_secret/,
    ],
    [
      'a key that is no base64 itself',
      { type: 'rfc2136', rfc2136: { server: '127.0.0.1:5300', keyName: 'k.' } },
      { key_secret: NO_TEXT },
      /wrong value under key_secret/,
    ],
  ])('credentials with %s are named without being repeated', async (_what, spec, data, message) => {
    const o = await start()
    await make(o, 'cloud', data)
    await o.apply('DNSProvider', 'cloud', { ...spec, secretRef: { name: 'cloud' } })
    const condition = await reasonOf(o, 'DNSProvider', 'cloud', 'CredentialsValid')
    expect(condition).toMatchObject({ reason: 'InvalidSecret', message: expect.stringMatching(message) })
    expect(condition?.message).not.toContain('\ufffd')
  })

  test('a Secret whose owner is taken off is that of somebody else from then on, and is told', async () => {
    const o = await start()
    await o.apply('MailDomain', 'example', { domainName: 'example.com' })
    await o.apply('SMTPCredential', 'one', { domainRef: { name: 'example' } })
    await o.condition('SMTPCredential', 'one', 'Ready', 'True')
    await edit(o, 'one-smtp', { metadata: { ownerReferences: null }, data: { password: 'bWluZQ==' } })
    expect(await reasonOf(o, 'SMTPCredential', 'one', 'SecretSynced')).toMatchObject({ reason: 'Conflict' })
    expect((await o.secret('one-smtp'))?.password).toBe('mine')
  })

  test('what lies in another namespace is not found, also under the name that is asked for', async () => {
    const other = await extraNamespace(sharedApiServer())
    const o = await start([other])
    await o.apply('MailDomain', 'example', { domainName: 'example.com' })
    await o.condition('MailDomain', 'example', 'Accepted', 'True')
    await o.apply('App', 'shop', { appKey: 'shop', appName: 'Shop' })
    await o.condition('App', 'shop', 'Ready', 'True')
    await make(o, 'cloud', { api_token: Buffer.from('t'.repeat(40)).toString('base64') })
    const there: [string, object, string, string, RegExp][] = [
      ['SMTPCredential', { domainRef: { name: 'example' } }, 'Accepted', 'DependencyNotReady', /no MailDomain example/],
      ['APIToken', { domainRef: { name: 'example' } }, 'Accepted', 'DependencyNotReady', /no MailDomain example/],
      [
        'SubscriptionPlan',
        { appRef: { name: 'shop' }, name: 'Monthly', price: '1', durationDays: 30 },
        'Accepted',
        'DependencyNotReady',
        /no App shop/,
      ],
      [
        'DNSProvider',
        { type: 'cloudflare', secretRef: { name: 'cloud' } },
        'CredentialsValid',
        'SecretNotFound',
        /no Secret cloud/,
      ],
    ]
    for (const [kind, spec, type, reason, message] of there) {
      await o.apply(kind, 'reaching', spec, {}, other)
      const { status } = await o.condition(kind, 'reaching', type, 'False', other)
      expect(status?.conditions?.find(one => one.type === type)).toMatchObject({
        reason,
        message: expect.stringMatching(message),
      })
    }
    expect(await o.secret('reaching-smtp', other)).toBeUndefined()
    expect(await o.secret('reaching-token', other)).toBeUndefined()
  })

  test('a name with a namespace in it is refused by the API server', async () => {
    const o = await start()
    const spec = { domainRef: { name: 'other/example' } }
    await expect(o.apply('SMTPCredential', 'one', spec)).rejects.toMatchObject({ status: 422 })
  })

  test('a Secret that is made in the moment of the first write is not overwritten', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const o = await operatorUnderTest({
      server: sharedApiServer(),
      mongoUri: sharedMongoUri(),
      client: token => proxy.client(token),
    })
    await o.apply('MailDomain', 'example', { domainName: 'example.com' })
    await o.condition('MailDomain', 'example', 'Accepted', 'True')
    let made: Promise<unknown> | undefined
    proxy.fault = ({ method, path: asked }) => {
      if (made || method !== 'POST' || !asked.endsWith('/secrets')) return undefined
      made = make(o, 'one-smtp', { mine: 'eA==' })
      return { status: 503, reason: 'ServiceUnavailable' }
    }
    await o.apply('SMTPCredential', 'one', { domainRef: { name: 'example' } })
    expect(await reasonOf(o, 'SMTPCredential', 'one', 'SecretSynced')).toMatchObject({ reason: 'Conflict' })
    await made
    expect(await o.secret('one-smtp')).toEqual({ mine: 'x' })
    const { metadata } = await o.admin.request<KubeObject>({ method: 'GET', path: path(o, 'one-smtp') })
    expect(metadata.ownerReferences).toBeUndefined()
  })
})
