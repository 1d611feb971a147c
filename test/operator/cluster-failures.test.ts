/** Cluster failures that an operator must survive, and tests that need an API server of their own. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { credentials, findCredentialByName } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, clientFor, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { operatorUnderTest, type UnderTestOptions } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

onApiServer('an operator in a cluster with failures', () => {
  const start = (more: Partial<UnderTestOptions> = {}) =>
    operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), ...more })
  const throughProxy = async (more: Partial<UnderTestOptions> = {}) => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    return { proxy, operator: await start({ client: token => proxy.client(token), ...more }) }
  }
  const domain = (name: string) => ({ domainName: `${name}.example` })

  test('reaches Accepted although every second status write conflicts', async () => {
    const { proxy, operator } = await throughProxy()
    let writes = 0
    proxy.failure = ({ method, path }) =>
      method === 'PATCH' && path.endsWith('/status') && writes++ % 2 === 0
        ? { status: 409, reason: 'Conflict' }
        : undefined
    for (const name of ['aa', 'bb', 'cc']) await operator.apply('MailDomain', name, domain(name))
    for (const name of ['aa', 'bb', 'cc']) await operator.condition('MailDomain', name, 'Accepted', 'True')
    expect(writes).toBeGreaterThanOrEqual(4)
  })

  test('repeats a status write that got 404 when the resource exists', async () => {
    const { proxy, operator } = await throughProxy()
    let misses = 0
    proxy.failure = ({ method, path }) =>
      method === 'PATCH' && path.endsWith('/missed/status') && misses++ === 0
        ? { status: 404, reason: 'NotFound' }
        : undefined
    await operator.apply('MailDomain', 'missed', domain('missed'))
    await operator.condition('MailDomain', 'missed', 'Accepted', 'True')
    expect(misses).toBeGreaterThan(1)
  })

  test('waits for Retry-After before it repeats a request that got 429', async () => {
    const { proxy, operator } = await throughProxy()
    const tries: number[] = []
    proxy.failure = ({ method, path }) => {
      if (method !== 'PATCH' || !path.endsWith('/maildomains/slow')) return undefined
      tries.push(performance.now())
      return tries.length === 1 ? { status: 429, reason: 'TooManyRequests', retryAfter: 3 } : undefined
    }
    await operator.apply('MailDomain', 'slow', domain('slow'))
    await operator.condition('MailDomain', 'slow', 'Accepted', 'True')
    expect((tries[1] ?? 0) - (tries[0] ?? 0)).toBeGreaterThanOrEqual(2_990)
  })

  test('the next leader finishes what a dead leader began, without creating anything twice', async () => {
    // The next leader waits for the end of the lease.
    const leaseTimes = { durationMs: 9_000, renewDeadlineMs: 6_000, retryMs: 100 }
    const { proxy, operator } = await throughProxy({ options: { leaseTimes } })
    await operator.apply('MailDomain', 'dd', domain('dd'))
    await operator.condition('MailDomain', 'dd', 'Accepted', 'True')
    let died = false
    proxy.failure = ({ method, path }) => {
      // After the write to the database and before the write of the Secret, the process stops responding.
      if (method === 'POST' && path.endsWith('/secrets')) died = true
      return died ? { status: 503, reason: 'ServiceUnavailable' } : undefined
    }
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'dd' } })
    await until(() => died)
    const other = await startKubeProxy(sharedApiServer())
    onTestFinished(() => other.stop())
    const token = sharedApiServer().tokens['system:serviceaccount:postwright:operator'] ?? ''
    await operator.another({ client: other.client(token) })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    expect(await operator.secret('news-smtp')).toMatchObject({ username: `news@${operator.namespace}` })
    expect(await collectionOf(operator.mongo.db, credentials).countDocuments()).toBe(1)
    expect(await collectionOf(operator.mongo.db, domains).countDocuments()).toBe(1)
    const stored = await findCredentialByName(operator.mongo.db, `news@${operator.namespace}`)
    expect(stored?.previous).toBeUndefined()
  })

  test('refuses to start with missing rights and names them', async () => {
    const operator = await start()
    // Another file gives the user `rights` a ClusterRole in between.
    const client = clientFor(sharedApiServer(), sharedApiServer().tokens['tenant-b'] ?? '')
    onTestFinished(() => client.close())
    await expect(operator.another({ client, watchNamespaces: ['default'] })).rejects.toThrow(
      /lacks \d+ rights(.|\n)*watch maildomains\.postwright\.dev in namespace default/,
    )
  })

  test('is not ready without a definition, logs the missing kind, and recovers when the definition appears', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    let missing = true
    proxy.failure = ({ path }) =>
      missing && path.endsWith('/maildomains') ? { status: 404, reason: 'NotFound' } : undefined
    const logged: object[] = []
    const log = { ...silentLog, error: (fields: object, message: string) => logged.push({ ...fields, message }) }
    const token = sharedApiServer().tokens['system:serviceaccount:postwright:operator'] ?? ''
    const running = await (await start()).another({ client: proxy.client(token) }, { log })
    await until(() => running.notReady?.() === 'not listed yet: MailDomain')
    await until(() => logged.length > 0)
    expect(logged[0]).toMatchObject({
      kind: 'MailDomain',
      message: expect.stringMatching(/CustomResourceDefinition is missing; install the chart with crds\.enabled=true/),
    })
    missing = false
    await until(() => running.notReady?.() === undefined)
  })

  test('stop() releases the lease, so that another operator continues', async () => {
    const operator = await start()
    await operator.apply('MailDomain', 'ee', domain('ee'))
    await operator.condition('MailDomain', 'ee', 'Accepted', 'True')
    await operator.running.stop()
    await operator.apply('MailDomain', 'ff', domain('ff'))
    await operator.another()
    await operator.condition('MailDomain', 'ff', 'Accepted', 'True')
  })
})

onApiServer('an operator with an API server of its own', () => {
  let server: ApiServer
  beforeAll(async () => {
    server = await startApiServer(() => undefined)
    const admin = adminClient(server)
    await installCrds(admin)
    await admin.close()
  }, 300_000)
  afterAll(() => server?.stop())

  test.each([
    ['a Role per namespace', false],
    ['a ClusterRole', true],
  ])('a login becomes ready with the rights of %s', async (_form, allNamespaces) => {
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri(), allNamespaces })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
  })

  test('recovers from a restart of the API server, a compaction of etcd and an upgrade of the CRDs', async () => {
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri() })
    await operator.apply('MailDomain', 'before', { domainName: 'before.example' })
    await operator.condition('MailDomain', 'before', 'Accepted', 'True')
    await server.restart()
    await operator.apply('MailDomain', 'after', { domainName: 'after.example' })
    await operator.condition('MailDomain', 'after', 'Accepted', 'True')

    await server.kill()
    await compact(server.etcdUrl)
    await server.restart()
    await operator.apply('MailDomain', 'compacted', { domainName: 'compacted.example' })
    await operator.condition('MailDomain', 'compacted', 'Accepted', 'True')

    const crd = parse(await readFile(join(import.meta.dirname, '../../crds/postwright.dev_maildomains.yaml'), 'utf8'))
    crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.novelty = { type: 'string', maxLength: 9 }
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`
    await operator.admin.request({
      method: 'PATCH',
      path,
      query: { fieldManager: 'test', force: true },
      body: crd,
      patch: 'apply',
    })
    await until(async () => {
      // Until the new schema is served, the field is refused.
      const made = await operator
        .apply('MailDomain', 'newer', { domainName: 'newer.example', novelty: 'yes' })
        .catch(() => undefined)
      return made?.spec.novelty === 'yes'
    }, 30_000)
    await operator.condition('MailDomain', 'newer', 'Accepted', 'True')
    expect((await operator.get('MailDomain', 'newer'))?.spec.novelty).toBe('yes')
  })
})

/** Compacts etcd at its current revision, through etcd's JSON gateway. */
async function compact(etcd: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${etcd}${path}`, { method: 'POST', body: JSON.stringify(body) })
    return (await answer.json()) as { header?: { revision?: string } }
  }
  const { header } = await call('/v3/kv/range', { key: 'AA==', limit: 1 })
  await call('/v3/kv/compaction', { revision: header?.revision, physical: true })
}
