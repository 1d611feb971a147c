import { expect, test } from 'vitest'
import { createCache, type KubeObject } from '../kube/object-cache.ts'
import { needsRun, recordChanged, wire, wireNamespaces } from './watches.ts'

let revision = 1
const object = (name: string, more: { metadata?: object; spec?: object; status?: object } = {}): KubeObject =>
  ({
    ...more,
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: String(++revision),
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...more.metadata,
    },
  }) as KubeObject

test.each<[string, KubeObject | undefined, KubeObject | undefined, boolean]>([
  ['new', undefined, object('a'), true],
  ['gone', object('a'), undefined, false],
  ['a new status', object('a'), object('a', { status: { x: 1 } }), false],
  ['a new spec', object('a'), object('a', { metadata: { generation: 2 } }), true],
  ['a new annotation', object('a'), object('a', { metadata: { annotations: { a: 'b' } } }), true],
  ['on its way out', object('a'), object('a', { metadata: { deletionTimestamp: 'now' } }), true],
  ['guarded by us now', object('a'), object('a', { metadata: { finalizers: ['postwright.dev/cleanup'] } }), false],
  ['guarded by us no more', object('a', { metadata: { finalizers: ['postwright.dev/cleanup'] } }), object('a'), true],
  ['deleted and made again', object('a'), object('a', { metadata: { uid: 'other' } }), true],
])('an object that is %s: runs %s', (_what, before, after, expected) => {
  expect(needsRun({ before, after })).toBe(expected)
})

function createFixture() {
  const fail = (error: unknown) => expect.unreachable(String(error))
  const kinds = [
    'DNSProvider',
    'ClusterDNSProvider',
    'MailDomain',
    'SMTPCredential',
    'APIToken',
    'App',
    'SubscriptionPlan',
    'FeatureSwitch',
    'Template',
    'WebhookEndpoint',
  ]
  const caches = new Map(kinds.map(kind => [kind, createCache(fail)]))
  const secrets = createCache(fail)
  const runs: string[] = []
  const enqueue = (kind: string, key: string, priority = 'high') => void runs.push(`${kind} ${key} ${priority}`)
  wire(caches, secrets, enqueue)
  const put = (kind: string, made: KubeObject, initial = false) => caches.get(kind)?.put(made, initial)
  const take = () => runs.splice(0)
  return { caches, secrets, enqueue, put, take }
}

test('the first list is queued last', () => {
  const { put, take } = createFixture()
  put('App', object('shop', { spec: { appKey: 'shop' } }), true)
  put('App', object('shop', { spec: { appKey: 'shop' }, metadata: { generation: 2 } }))
  expect(take()).toEqual(['App ns/shop low', 'App ns/shop high'])
})

test('a login is reconciled when its MailDomain changes its conditions, but not when a time in it changes', () => {
  const { put, take } = createFixture()
  put('SMTPCredential', object('news', { spec: { domainRef: { name: 'example' } } }))
  const domain = (status: object) => object('example', { spec: { domainName: 'example.com' }, status })
  put('MailDomain', domain({ conditions: [{ type: 'Accepted', status: 'False', reason: 'X' }] }))
  take()
  put(
    'MailDomain',
    domain({ conditions: [{ type: 'Accepted', status: 'False', reason: 'X' }], lastCheckTime: 'later' }),
  )
  expect(take()).toEqual([])
  put('MailDomain', domain({ conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted' }] }))
  expect(take()).toEqual(['SMTPCredential ns/news high'])
})

test('a Secret wakes the resource that owns it and the provider that reads it', () => {
  const { put, secrets, take } = createFixture()
  put('DNSProvider', object('p', { spec: { secretRef: { name: 'dns' } } }))
  put('SMTPCredential', object('news', { spec: { domainRef: { name: 'example' } } }))
  take()
  secrets.put(object('dns'))
  const secret = object('news-smtp', {
    metadata: { ownerReferences: [{ kind: 'SMTPCredential', name: 'news', uid: 'u' }] },
  })
  secrets.put(secret)
  secrets.remove(secret)
  expect(take()).toEqual(['DNSProvider ns/p high', 'SMTPCredential ns/news high', 'SMTPCredential ns/news high'])
})

test('a webhook is reconciled with each of its MailDomains, and with its App', () => {
  const { put, take } = createFixture()
  put('WebhookEndpoint', object('mail', { spec: { domainRefs: [{ name: 'one' }, { name: 'two' }] } }))
  put('WebhookEndpoint', object('app', { spec: { appRef: { name: 'shop' } } }))
  put('WebhookEndpoint', object('all', { spec: {} }))
  take()
  put('MailDomain', object('two', { spec: { domainName: 'two.example' } }))
  put('App', object('shop', { spec: { appKey: 'shop' } }))
  expect(take()).toEqual([
    'MailDomain ns/two high',
    'WebhookEndpoint ns/mail high',
    'App ns/shop high',
    'WebhookEndpoint ns/app high',
  ])
})

test('when a resource is deleted, those that declare the same record are reconciled', () => {
  const { put, caches, take } = createFixture()
  put('App', object('one', { spec: { appKey: 'shop', appName: 'S' } }))
  put('App', object('two', { spec: { appKey: 'shop', appName: 'S' } }))
  put('MailDomain', object('a', { spec: { domainName: 'example.com' } }))
  put('MailDomain', object('b', { spec: { domainName: 'example.com' } }))
  take()
  caches.get('App')?.remove(object('one'))
  caches.get('MailDomain')?.remove(object('a'))
  expect(take()).toEqual(['App ns/two high', 'MailDomain ns/b high'])
})

test.each<[string, Record<string, unknown> | undefined, string[] | undefined, string[]]>([
  ['its mark', { managed_by: { kind: 'App', namespace: 'ns', name: 'shop' } }, undefined, ['App ns/shop high']],
  ['its id when the record is gone', undefined, undefined, ['MailDomain ns/example high']],
  ['nothing, for a note of its last use', {}, ['last_used_at', 'updated_at'], []],
  ['nothing, for the claim of a check', {}, ['next_check_at'], []],
  ['its id, for the result of a check', {}, ['check', 'next_check_at'], ['MailDomain ns/example high']],
])('a changed record is found by %s', (_what, document, fields, expected) => {
  const { put, caches, enqueue, take } = createFixture()
  put('MailDomain', object('example', { spec: { domainName: 'example.com' }, status: { domainId: 'dom_1' } }))
  take()
  recordChanged(
    caches,
    enqueue,
  )({ collection: 'domains', id: document?.managed_by ? 'other' : 'dom_1', document, fields })
  expect(take()).toEqual(expected)
})

const SENDER = ['App ns/shop high']
const OWNER = ['MailDomain ns/ann high', 'Template ns/welcome high', 'WebhookEndpoint ns/events high']
test.each<[string, { collection: string; document?: Record<string, unknown>; fields?: string[] }, string[]]>([
  [
    'a domain that is verified',
    { collection: 'domains', document: { name: 'example.com' }, fields: ['status'] },
    SENDER,
  ],
  ['a new domain', { collection: 'domains', document: { name: 'example.com' } }, SENDER],
  ['a domain that is gone, whichever it was', { collection: 'domains' }, SENDER],
  ['a look at a domain', { collection: 'domains', document: { name: 'example.com' }, fields: ['check'] }, []],
  ['another domain', { collection: 'domains', document: { name: 'example.org' }, fields: ['status'] }, []],
  ['a domain below', { collection: 'domains', document: { name: 'a.example.com' }, fields: ['status'] }, []],
  ['a new account', { collection: 'users', document: { username: 'ann' } }, [...SENDER, ...OWNER]],
  ['another role', { collection: 'users', document: { username: 'bob' }, fields: ['role'] }, SENDER],
  ['a suspension', { collection: 'users', document: { username: 'ann' }, fields: ['status'] }, [...SENDER, ...OWNER]],
  ['another password', { collection: 'users', document: { username: 'ann' }, fields: ['password_hash'] }, []],
  ['an account that is gone', { collection: 'users' }, SENDER],
  ['a login', { collection: 'credentials', document: { username: 'ann', name: 'example.com' } }, []],
])('waiting resources are reconciled on %s', (_what, { collection, document, fields }, expected) => {
  const { put, caches, enqueue, take } = createFixture()
  put('App', object('shop', { spec: { appKey: 'shop', mailFrom: 'News@example.com' } }))
  put('App', object('plain', { spec: { appKey: 'plain' } }))
  put('MailDomain', object('ann', { spec: { domainName: 'ann.example', owner: { username: 'ann' } } }))
  put('MailDomain', object('own', { spec: { domainName: 'own.example' } }))
  put('Template', object('welcome', { spec: { owner: { username: 'ann' } } }))
  put('WebhookEndpoint', object('events', { spec: { owner: { username: 'ann' } } }))
  take()
  recordChanged(caches, enqueue)({ collection, id: 'x', document, fields })
  expect(take()).toEqual(expected)
})

test('what a Namespace lists wakes all that it declares, and nothing else of it does', () => {
  const { caches, enqueue, put, take } = createFixture()
  const namespaces = createCache(error => expect.unreachable(String(error)))
  wireNamespaces(namespaces, caches, enqueue)
  for (const namespace of ['ns', 'ns-2']) {
    put('App', object('shop', { metadata: { namespace }, spec: { appKey: namespace } }))
    put('MailDomain', object('ann', { metadata: { namespace }, spec: { domainName: 'ann.example' } }))
    put('SMTPCredential', object('news', { metadata: { namespace }, spec: { domainRef: { name: 'ann' } } }))
    put('Template', object('welcome', { metadata: { namespace }, spec: {} }))
    put('WebhookEndpoint', object('events', { metadata: { namespace }, spec: {} }))
  }
  take()
  const woken = (annotations: object, initial = false) => {
    const { metadata } = object('ns', { metadata: { uid: 'uid-ns', annotations } })
    const { namespace: _, ...rest } = metadata
    namespaces.put({ metadata: rest }, initial)
    return take()
  }
  const all = [
    ...['MailDomain ns/ann high', 'SMTPCredential ns/news high'],
    ...['Template ns/welcome high', 'WebhookEndpoint ns/events high', 'App ns/shop high'],
  ]
  expect(woken({ 'postwright.dev/owners': 'ann' }, true)).toEqual([])
  expect(woken({ 'postwright.dev/owners': 'ann', team: 'a' })).toEqual([])
  expect(woken({ 'postwright.dev/owners': 'ann, bob' })).toEqual(all)
  expect(woken({})).toEqual(all)
})

test('a MailDomain is reconciled when the provider of the kind that it names changes', () => {
  const { put, take } = createFixture()
  const naming = (kind?: string) => ({ dns: { providerRef: { name: 'corp', ...(kind ? { kind } : {}) } } })
  put('MailDomain', object('own', { spec: naming() }))
  put('MailDomain', object('shared', { spec: naming('ClusterDNSProvider') }))
  take()
  put('DNSProvider', object('corp'))
  expect(take()).toEqual(['DNSProvider ns/corp high', 'MailDomain ns/own high'])
  put('ClusterDNSProvider', object('corp', { metadata: { namespace: undefined } }))
  expect(take()).toEqual(['ClusterDNSProvider /corp high', 'MailDomain ns/shared high'])
})

test('a ClusterDNSProvider is reconciled when the Secret in the namespace that it names changes, and with its record', () => {
  const { caches, enqueue, put, secrets, take } = createFixture()
  const spec = { secretRef: { name: 'dns', namespace: 'safe' } }
  put('ClusterDNSProvider', object('corp', { spec, metadata: { namespace: undefined } }))
  take()
  secrets.put(object('dns'))
  expect(take()).toEqual([])
  secrets.put(object('dns', { metadata: { namespace: 'safe', uid: 'safe-dns' } }))
  expect(take()).toEqual(['ClusterDNSProvider /corp high'])
  const managed_by = { kind: 'ClusterDNSProvider', namespace: '', name: 'corp' }
  const document = { managed_by, sealed: 'x' }
  recordChanged(caches, enqueue)({ collection: 'dns_accounts', id: 'dns_1', document, fields: ['sealed'] })
  expect(take()).toEqual(['ClusterDNSProvider /corp high'])
})

test('labels of a Namespace concern ClusterDNSProviders, and the MailDomains that name one', () => {
  const { caches, enqueue, put, take } = createFixture()
  const namespaces = createCache(error => expect.unreachable(String(error)))
  wireNamespaces(namespaces, caches, enqueue)
  put('MailDomain', object('own', { spec: { dns: { providerRef: { name: 'corp' } } } }))
  put('MailDomain', object('shared', { spec: { dns: { providerRef: { name: 'corp', kind: 'ClusterDNSProvider' } } } }))
  put('ClusterDNSProvider', object('corp', { metadata: { namespace: undefined } }))
  const namespace = (labels: object, annotations: object = {}) =>
    object('ns', { metadata: { namespace: undefined, labels, annotations } })
  namespaces.put(namespace({ mail: 'yes' }), true)
  take()
  namespaces.put(namespace({ mail: 'no' }))
  expect(take()).toEqual(['MailDomain ns/shared high', 'ClusterDNSProvider /corp high'])
  namespaces.put(namespace({ mail: 'no' }))
  expect(take()).toEqual([])
  namespaces.put(namespace({ mail: 'yes' }, { 'postwright.dev/owners': 'ann' }))
  expect(take()).toEqual(['MailDomain ns/own high', 'MailDomain ns/shared high', 'ClusterDNSProvider /corp high'])
})
