/** Writes of status, finalizers, Secrets and Events, and the check of rights, on a real API server. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type KubeClient, KubeError } from '../../operator/kube/client.ts'
import { createRecorder } from '../../operator/kube/event-recorder.ts'
import { listPath, NAMESPACES_PATH, objectPath, secretsPath } from '../../operator/kube/object-paths.ts'
import { createWriter, SECRET_LABEL } from '../../operator/kube/object-writer.ts'
import { missingRights } from '../../operator/kube/permission-check.ts'
import { KIND_RULES, namespaceRules, OWN_RULES, rbacObjects, WORKLOAD_RULES } from '../../operator/rbac.ts'
import { App } from '../../operator/resources/app.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, applyRbac, clientFor, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { until } from '../support/time/until.ts'

onApiServer('writes to the API server', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin.close())

  const create = async (name: string) => {
    const body = { apiVersion: API_VERSION, kind: 'App', metadata: { name }, spec: { appKey: name, appName: name } }
    return App.parse(await admin.request({ method: 'POST', path: listPath('apps', namespace), body }))
  }
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'Available',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  const refused = (promise: Promise<unknown>) =>
    promise.then(
      () => 0,
      (error: unknown) => (error instanceof KubeError ? error.status : -1),
    )

  test('two managers keep their own conditions, and a field that is no longer sent is removed', async () => {
    const { metadata } = await create('conditions')
    const writer = createWriter(admin)
    await writer.applyStatus(App, metadata, { appId: 'app_1', conditions: [condition('Ready')] })
    const foreign = {
      apiVersion: API_VERSION,
      kind: 'App',
      metadata: { name: metadata.name },
      status: { conditions: [condition('Foreign')] },
    }
    const path = `${objectPath(App, metadata)}/status`
    await admin.request({ method: 'PATCH', path, query: { fieldManager: 'other' }, body: foreign, patch: 'apply' })
    const after = App.parse(await writer.applyStatus(App, metadata, { conditions: [condition('Ready')] }))
    expect(after.status?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Foreign'])
    expect(after.status?.appId).toBeUndefined()
  })

  test('rejects a status for a deleted object and does not create it again', async () => {
    const { metadata } = await create('gone')
    await admin.request({ method: 'DELETE', path: objectPath(App, metadata) })
    expect([404, 409]).toContain(await refused(createWriter(admin).applyStatus(App, metadata, { appId: 'x' })))
    expect(await refused(admin.request({ method: 'GET', path: objectPath(App, metadata) }))).toBe(404)
  })

  test('sets finalizers only on the revision that was read', async () => {
    const { metadata } = await create('finalized')
    const writer = createWriter(admin)
    const set = await writer.setFinalizers(App, metadata, ['postwright.dev/cleanup'])
    expect(set.metadata.finalizers).toEqual(['postwright.dev/cleanup'])
    expect(await refused(writer.setFinalizers(App, metadata, []))).toBe(409)
    await writer.setFinalizers(App, App.parse({ spec: { appKey: 'abc', appName: 'a' }, ...set }).metadata, [])
  })

  test('a Secret gets an owner reference and the label, and loses keys that are no longer written', async () => {
    const { metadata } = await create('secretive')
    const writer = createWriter(admin)
    const content = { name: 'secretive-app', type: 'Opaque', annotations: { a: 'b' } }
    const made = await writer.applySecret(App, metadata, { ...content, data: { one: '1', two: '2' } }, undefined)
    await writer.applySecret(App, metadata, { ...content, data: { one: '1' } }, made)
    const secret = await writer.readSecret({ namespace, name: 'secretive-app' })
    expect(secret?.data).toEqual({ one: Buffer.from('1').toString('base64') })
    expect(secret?.metadata.labels).toEqual({ [SECRET_LABEL]: 'managed' })
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: 'App', name: 'secretive', uid: metadata.uid }])
    expect(await writer.readSecret({ namespace, name: 'none' })).toBeUndefined()
  })

  test('does not take over a Secret that another program created in between, whether ours existed before or not', async () => {
    const { metadata } = await create('replaced')
    const writer = createWriter(admin)
    const content = { name: 'replaced-app', type: 'Opaque', annotations: {}, data: { one: '1' } }
    const ours = await writer.applySecret(App, metadata, content, undefined)
    const path = `${secretsPath(namespace)}/replaced-app`
    await admin.request({ method: 'DELETE', path })
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'replaced-app' }, stringData: { mine: 'x' } }
    await admin.request({ method: 'POST', path: secretsPath(namespace), body })
    expect(await refused(writer.applySecret(App, metadata, content, ours))).toBe(409)
    expect(await refused(writer.applySecret(App, metadata, content, undefined))).toBe(409)
    const found = await writer.readSecret({ namespace, name: 'replaced-app' })
    expect(found?.data).toEqual({ mine: Buffer.from('x').toString('base64') })
    expect(found?.metadata.ownerReferences).toBeUndefined()
    await admin.request({ method: 'DELETE', path })
    expect(await refused(writer.applySecret(App, metadata, content, ours))).toBe(409)
    expect(await writer.readSecret({ namespace, name: 'replaced-app' })).toBeUndefined()
  })

  test('merges equal events into one series and limits the rate of events about one object', async () => {
    const { metadata } = await create('eventful')
    let now = Date.now()
    const recorder = createRecorder(admin, 'test', silentLog, () => now)
    const about = { kind: 'App', metadata }
    const event = { type: 'Warning', reason: 'ProviderError', action: 'PublishDNS', note: 'refused' } as const
    for (let i = 0; i < 5; i++) recorder.record(about, event)
    now += 5 * 60_000
    recorder.record(about, event)
    for (let i = 0; i < 40; i++) recorder.record(about, { ...event, note: `number ${i}` })
    await recorder.flush(10_000)
    const { items } = await admin.request<{ items: { note: string; series?: { count: number } }[] }>({
      method: 'GET',
      path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    })
    expect(items).toHaveLength(26) // a burst of 25 and one more after five minutes
    expect(items.find(({ note }) => note === 'refused')?.series?.count).toBe(2)
  })

  test.each([
    ['Latin', 'a'],
    ['Chinese', '域'],
    ['outside of the first plane', '📮'],
  ])('cuts a long note to the length that the API server accepts: %s', async (_script, letter) => {
    const { metadata } = await create(`wordy-${letter.codePointAt(0)}`)
    const recorder = createRecorder(admin, 'test', silentLog, Date.now)
    const note = letter.repeat(2_000)
    recorder.record({ kind: 'App', metadata }, { type: 'Warning', reason: 'Wordy', action: 'Test', note })
    await recorder.flush(10_000)
    const { items } = await admin.request<{ items: { note: string; regarding: { name: string } }[] }>({
      method: 'GET',
      path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    })
    const taken = items.find(({ regarding }) => regarding.name === metadata.name)?.note ?? ''
    expect(taken.length).toBeGreaterThan(100)
    expect(note.startsWith(taken)).toBe(true)
  })

  test.each([
    ['a dot', `${'a'.repeat(199)}.tail`],
    ['a hyphen', `${'b'.repeat(199)}-tail`],
    ['a hyphen after a hyphen', `${'c'.repeat(198)}--tail`],
    ['a letter after a dot', `${'d'.repeat(198)}.tail`],
  ])('sends an event about an object whose long name would be cut at %s', async (_where, name) => {
    const { metadata } = await create(`long-${name.charAt(0)}`)
    const recorder = createRecorder(admin, 'test', silentLog, Date.now)
    const event = { type: 'Normal', reason: 'Long', action: 'Test', note: 'recorded' } as const
    recorder.record({ kind: 'App', metadata: { ...metadata, name } }, event)
    await recorder.flush(10_000)
    const { items } = await admin.request<{ items: { regarding: { name: string } }[] }>({
      method: 'GET',
      path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    })
    expect(items.filter(({ regarding }) => regarding.name === name)).toHaveLength(1)
  })

  test('records an event that the API server rejected at first when it occurs again', async () => {
    const { metadata } = await create('rejected')
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const client = proxy.client(sharedApiServer().admin)
    onTestFinished(() => client.close())
    const recorder = createRecorder(client, 'test', silentLog, Date.now)
    const event = { type: 'Warning', reason: 'Rejected', action: 'Test', note: 'once more' } as const
    proxy.failure = () => ({ status: 500, reason: 'InternalError' })
    recorder.record({ kind: 'App', metadata }, event)
    await recorder.flush(10_000)
    proxy.failure = () => undefined
    recorder.record({ kind: 'App', metadata }, event)
    await recorder.flush(10_000)
    const { items } = await admin.request<{ items: { reason: string }[] }>({
      method: 'GET',
      path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    })
    expect(items.filter(({ reason }) => reason === 'Rejected')).toHaveLength(1)
  })

  test('ignores events that the API server rejects', async () => {
    const { metadata } = await create('refused')
    const recorder = createRecorder(admin, 'test', silentLog, Date.now)
    const nowhere = { kind: 'App', metadata: { ...metadata, namespace: 'does-not-exist' } }
    recorder.record(nowhere, { type: 'Normal', reason: 'X', action: 'Y', note: 'z' })
    await recorder.flush(10_000)
  })

  test.each([
    ['a Role per namespace', true],
    ['a ClusterRole', false],
  ])(
    'the rights of rbac.ts as %s are sufficient, and without them the missing ones are named',
    async (_form, perNamespace) => {
      const watched = await newNamespace(admin)
      const user = 'system:serviceaccount:postwright:rights'
      const token = sharedApiServer().tokens[user] ?? ''
      const client = clientFor(sharedApiServer(), token)
      const scope = perNamespace ? watched : undefined
      const names = scope ? [scope] : []
      const lacking = async () => [
        ...(await missingRights(client, [...KIND_RULES, ...WORKLOAD_RULES], [scope])),
        ...(await missingRights(client, namespaceRules(names), [undefined])),
      ]
      expect(await lacking()).toEqual(
        expect.arrayContaining([
          `watch maildomains.postwright.dev ${scope ? `in namespace ${scope}` : 'in all namespaces'}`,
          `list namespaces ${scope ?? 'in all namespaces'}`,
        ]),
      )
      const target = { namespace: 'postwright', serviceAccount: 'rights', name: `op-${watched}` }
      const remove = await applyRbac(admin, rbacObjects({ ...target, watchNamespaces: names }))
      await until(async () => (await lacking()).length === 0)
      expect(await missingRights(client, OWN_RULES, ['postwright'])).toEqual([])
      const other = await newNamespace(admin)
      expect(await refused(client.request({ method: 'GET', path: secretsPath(other) }))).toBe(perNamespace ? 403 : 0)
      for (const [name, allowed] of [
        [watched, true],
        [other, !perNamespace],
      ] as const) {
        const query = { fieldSelector: `metadata.name=${name}` }
        expect(await refused(client.request({ method: 'GET', path: NAMESPACES_PATH, query }))).toBe(allowed ? 0 : 403)
      }
      await remove()
      await client.close()
    },
  )
})
