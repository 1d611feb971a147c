/** Secrets as users leave them: invalid UTF-8, missing keys, references into another namespace. */
import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import type { SecretObject } from '../../operator/kube/object-writer.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { type OperatorUnderTest, operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

/** Invalid UTF-8: a lone continuation, an overlong slash, a surrogate, a truncated sequence. */
const INVALID_UTF8 = Buffer.from([0x80, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xe2, 0x82]).toString('base64')

onApiServer('Secrets', () => {
  const start = (namespaces: readonly string[] = []) =>
    operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), namespaces })
  const path = (operator: OperatorUnderTest, name: string) => `/api/v1/namespaces/${operator.namespace}/secrets/${name}`
  const edit = (operator: OperatorUnderTest, name: string, body: object) =>
    operator.admin.request({ method: 'PATCH', path: path(operator, name), body, patch: 'merge' })
  const make = (
    operator: OperatorUnderTest,
    name: string,
    data: Record<string, string>,
    namespace = operator.namespace,
  ) =>
    operator.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data },
    })
  const reasonOf = async (operator: OperatorUnderTest, kind: string, name: string, type: string) => {
    const { status } = await operator.condition(kind, name, type, 'False')
    return status?.conditions?.find(one => one.type === type)
  }

  test.each([
    ['SMTPCredential', 'smtp', 'password'],
    ['APIToken', 'token', 'token'],
    ['App', 'app', 'app-secret'],
  ])('a %s repairs its Secret -%s when it contains invalid UTF-8 under %s', async (kind, suffix, key) => {
    const operator = await start()
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.apply(
      kind,
      'one',
      kind === 'App' ? { appKey: 'shop', appName: 'S' } : { domainRef: { name: 'example' } },
    )
    await operator.condition(kind, 'one', 'Ready', 'True')
    const name = `one-${suffix}`
    const before = await operator.secret(name)
    await edit(operator, name, { data: { [key]: INVALID_UTF8, extra: INVALID_UTF8 } })
    const raw = async () =>
      (await operator.admin.request<SecretObject>({ method: 'GET', path: path(operator, name) })).data
    await until(async () => (await raw())?.[key] !== INVALID_UTF8 && (await raw())?.extra === undefined)
    const after = await operator.secret(name)
    expect(Object.keys(after ?? {}).sort()).toEqual(Object.keys(before ?? {}).sort())
    // A password can be read back; of the other secrets only hashes are stored, so they are generated again.
    if (kind === 'SMTPCredential') expect(after).toEqual(before)
    else expect(after?.[key]).toMatch(/^[\x21-\x7e]{20,}$/)
  })

  test.each<[string, object, Record<string, string>, RegExp]>([
    ['invalid UTF-8', { type: 'cloudflare' }, { api_token: INVALID_UTF8 }, /api_token/],
    ['nothing', { type: 'cloudflare' }, {}, /there is no key api_token/],
    ['an empty value', { type: 'cloudflare' }, { api_token: '' }, /value of api_token is not valid/],
    [
      'the key of another provider',
      { type: 'aliyun' },
      { api_token: 'YQ==' },
      /no key access_key_id.*access_key_secret/,
    ],
    [
      'a key that is not base64',
      { type: 'rfc2136', rfc2136: { server: '127.0.0.1:5300', keyName: 'k.' } },
      { key_secret: INVALID_UTF8 },
      /value of key_secret is not valid/,
    ],
  ])('reports credentials with %s without repeating them', async (_what, spec, data, message) => {
    const operator = await start()
    await make(operator, 'cloud', data)
    await operator.apply('DNSProvider', 'cloud', { ...spec, secretRef: { name: 'cloud' } })
    const condition = await reasonOf(operator, 'DNSProvider', 'cloud', 'CredentialsValid')
    expect(condition).toMatchObject({ reason: 'InvalidSecret', message: expect.stringMatching(message) })
    expect(condition?.message).not.toContain('\ufffd')
  })

  test('a Secret whose owner reference was removed counts as foreign and is left unchanged', async () => {
    const operator = await start()
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.apply('SMTPCredential', 'one', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'one', 'Ready', 'True')
    await edit(operator, 'one-smtp', { metadata: { ownerReferences: null }, data: { password: 'bWluZQ==' } })
    expect(await reasonOf(operator, 'SMTPCredential', 'one', 'SecretSynced')).toMatchObject({ reason: 'Conflict' })
    expect((await operator.secret('one-smtp'))?.password).toBe('mine')
  })

  test('does not find a resource of another namespace with the same name', async () => {
    const other = await extraNamespace(sharedApiServer())
    const operator = await start([other])
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    await operator.apply('App', 'shop', { appKey: 'shop', appName: 'Shop' })
    await operator.condition('App', 'shop', 'Ready', 'True')
    await make(operator, 'cloud', { api_token: Buffer.from('t'.repeat(40)).toString('base64') })
    const there: [string, object, string, string, RegExp][] = [
      ['SMTPCredential', { domainRef: { name: 'example' } }, 'Accepted', 'DependencyNotReady', /no MailDomain example/],
      ['APIToken', { domainRef: { name: 'example' } }, 'Accepted', 'DependencyNotReady', /no MailDomain example/],
      [
        'WebhookEndpoint',
        { url: 'https://hooks.example.com', domainRefs: [{ name: 'example' }] },
        'Accepted',
        'DependencyNotReady',
        /no MailDomain example/,
      ],
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
      await operator.apply(kind, 'reaching', spec, {}, other)
      const { status } = await operator.condition(kind, 'reaching', type, 'False', other)
      expect(status?.conditions?.find(one => one.type === type)).toMatchObject({
        reason,
        message: expect.stringMatching(message),
      })
    }
    expect(await operator.secret('reaching-smtp', other)).toBeUndefined()
    expect(await operator.secret('reaching-token', other)).toBeUndefined()
  })

  test('the API server rejects a reference that contains a namespace', async () => {
    const operator = await start()
    const spec = { domainRef: { name: 'other/example' } }
    await expect(operator.apply('SMTPCredential', 'one', spec)).rejects.toMatchObject({ status: 422 })
  })

  test('does not overwrite a Secret that appears during the first write', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const operator = await operatorUnderTest({
      server: sharedApiServer(),
      mongoUri: sharedMongoUri(),
      client: token => proxy.client(token),
    })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    let made: Promise<unknown> | undefined
    let isMade = false
    proxy.failure = ({ method, path: asked }) => {
      if (isMade || method !== 'POST' || !asked.endsWith('/secrets')) return undefined
      made ??= make(operator, 'one-smtp', { mine: 'eA==' }).finally(() => {
        isMade = true
      })
      return { status: 503, reason: 'ServiceUnavailable' }
    }
    await operator.apply('SMTPCredential', 'one', { domainRef: { name: 'example' } })
    expect(await reasonOf(operator, 'SMTPCredential', 'one', 'SecretSynced')).toMatchObject({ reason: 'Conflict' })
    await made
    expect(await operator.secret('one-smtp')).toEqual({ mine: 'x' })
    const { metadata } = await operator.admin.request<KubeObject>({ method: 'GET', path: path(operator, 'one-smtp') })
    expect(metadata.ownerReferences).toBeUndefined()
  })
})
