/** The sample admission policies on a real API server: what they let through, and what they refuse with which words. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type KubeClient, KubeError } from '../../operator/kube/client.ts'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import { listPath } from '../../operator/kube/object-paths.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, clientFor, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { until } from '../support/time/until.ts'

interface Policy {
  kind: string
  metadata: { name: string }
  spec: Record<string, unknown>
}

const POLICIES = '/apis/admissionregistration.k8s.io/v1'
const pathOf = ({ kind, metadata }: Policy) =>
  `${POLICIES}/${kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings'}/${metadata.name}`

onApiServer('admission policies', () => {
  let admin: KubeClient
  let namespace: string
  const applied: Policy[] = []
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(async () => {
    for (const policy of applied) await admin.request({ method: 'DELETE', path: pathOf(policy) })
    await admin.close()
  })

  /** Applies a sample under a name of its own, bound to the test's namespace only. */
  const apply = async (file: string) => {
    const documents = parseAllDocuments(await readFile(`docs/gitops/admission/${file}`, 'utf8'))
    for (const sample of documents.map(document => document.toJS() as Policy)) {
      const policy = structuredClone(sample)
      policy.metadata.name = `${sample.metadata.name}-${namespace}`
      if (policy.kind.endsWith('Binding')) {
        policy.spec.policyName = policy.metadata.name
        const selector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
        policy.spec.matchResources = { namespaceSelector: selector }
      }
      const query = { fieldManager: 'test', force: true, fieldValidation: 'Strict' }
      await admin.request({ method: 'PATCH', path: pathOf(policy), query, body: policy, patch: 'apply' })
      applied.push(policy)
    }
  }
  const create = (client: KubeClient, spec: object, metadata: object = {}) =>
    client
      .request({
        method: 'POST',
        path: listPath('maildomains', namespace),
        query: { dryRun: 'All' },
        body: { apiVersion: API_VERSION, kind: 'MailDomain', metadata: { name: 'x', namespace, ...metadata }, spec },
      })
      .then(
        () => 'accepted',
        (error: unknown) => (error instanceof KubeError ? error.message : Promise.reject(error)),
      )
  const annotate = (annotations: Record<string, string | null>) =>
    admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}`,
      body: { metadata: { annotations } },
      patch: 'merge',
    })

  describe('domains of namespaces', () => {
    beforeAll(async () => {
      await apply('domains-of-namespaces.yaml')
      // A policy is in force some moments after it was stored.
      await until(async () => (await create(admin, { domainName: 'any.example' })) !== 'accepted', 30_000)
    })

    test('a namespace without a list may claim none', async () => {
      expect(await create(admin, { domainName: 'shop.example' })).toMatch(
        new RegExp(`the namespace ${namespace} may not claim shop\\.example: .* annotation postwright\\.dev/domains`),
      )
    })

    test('a list names domains with those below them, and no others', async () => {
      await annotate({ 'postwright.dev/domains': ' shop.example , shop.test,' })
      await until(async () => (await create(admin, { domainName: 'shop.test' })) === 'accepted', 30_000)
      expect(await create(admin, { domainName: 'shop.example' })).toBe('accepted')
      expect(await create(admin, { domainName: 'news.shop.example' })).toBe('accepted')
      for (const domainName of ['othershop.example', 'example.net', 'shop.example.org'])
        expect(await create(admin, { domainName })).toContain(`may not claim ${domainName}`)
    })
  })

  describe('no takeover', () => {
    let user: KubeClient
    beforeAll(async () => {
      const { tokens } = sharedApiServer()
      user = clientFor(sharedApiServer(), Object.values(tokens)[0] ?? '')
      await annotate({ 'postwright.dev/domains': 'shop.example' })
      await apply('no-takeover.yaml')
    })
    afterAll(() => user.close())

    test('refuses Overwrite and force-delete to users, and nothing to administrators', async () => {
      const overwrite = { domainName: 'shop.example', dns: { conflictPolicy: 'Overwrite' } }
      const forced = { annotations: { 'postwright.dev/force-delete': 'true' } }
      const name = `edit-${namespace}`
      await admin.request({
        method: 'POST',
        path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
        body: {
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
          subjects: Object.keys(sharedApiServer().tokens).map(subject => ({
            apiGroup: 'rbac.authorization.k8s.io',
            kind: 'User',
            name: subject,
          })),
        },
      })
      await until(async () => /may not be Overwrite/.test(await create(user, overwrite)), 30_000)
      expect(await create(user, { domainName: 'shop.example' }, forced)).toMatch(/only administrators may set it/)
      expect(await create(user, { domainName: 'shop.example' })).toBe('accepted')
      expect(await create(user, { domainName: 'shop.example', dns: { conflictPolicy: 'Adopt' } })).toBe('accepted')
      expect(await create(admin, overwrite, forced)).toBe('accepted')
      // Others change what an administrator made, as the operator does with its finalizer.
      await admin.request({
        method: 'POST',
        path: listPath('maildomains', namespace),
        body: { apiVersion: API_VERSION, kind: 'MailDomain', metadata: { name: 'made', ...forced }, spec: overwrite },
      })
      const made = `${listPath('maildomains', namespace)}/made`
      const body = { metadata: { labels: { team: 'shop' } } }
      const changed = await user.request<KubeObject>({ method: 'PATCH', path: made, body, patch: 'merge' })
      expect(changed.metadata.labels).toEqual({ team: 'shop' })
    })
  })
})
