/** The context of reconcilers over a real database, with caches that tests fill and an API server of a few lines. */

import { type KubeClient, KubeError, type KubeRequest } from '../../../operator/kube/client.ts'
import { createCache, type KubeObject, type ObjectCache } from '../../../operator/kube/object-cache.ts'
import { createWriter, type SecretObject } from '../../../operator/kube/object-writer.ts'
import { DECLARED_DOMAIN_INDEX, declaredDomains } from '../../../operator/reconcilers/mail-domain/mail-domain-owner.ts'
import type { OperatorContext } from '../../../operator/reconcilers/shared/operator-context.ts'
import { kinds } from '../../../operator/resources/kinds.ts'
import { accountCollection } from '../../../services/accounts/find-account.ts'
import { declaredMailCollections } from '../../../services/mail/declared-collections.ts'
import { ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { databaseForThisTest } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { type TestClock, testClock } from '../time/test-clock.ts'

/** A context with what it works on. */
export interface ContextUnderTest {
  context: OperatorContext
  clock: TestClock
  /** The annotation postwright.dev/owners of each Namespace. */
  owners: Map<string, string>
  /** Secrets by name, as the API server stores them. */
  secrets: Map<string, SecretObject>
  /** Puts an object into the cache of its kind and returns it. */
  add(kind: string, name: string, spec: object, more?: Partial<KubeObject['metadata']>, status?: object): KubeObject
}

/** Everything lives in the namespace `shop`, unless metadata names another one; the uid of an object is `uid-<name>`. */
export async function operatorContext(env: Readonly<Record<string, string>> = {}): Promise<ContextUnderTest> {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [accountCollection, ...declaredMailCollections])
  const clock = testClock()
  const owners = new Map<string, string>()
  const secrets = new Map<string, SecretObject>()
  const caches = new Map<string, ObjectCache>(kinds.map(({ kind }) => [kind, createCache(rethrow)]))
  caches.get('MailDomain')?.addIndex(DECLARED_DOMAIN_INDEX, declaredDomains)
  const client: Pick<KubeClient, 'request'> = {
    request: async <T>(request: KubeRequest) => answer(request, owners, secrets) as T,
  }
  const context: OperatorContext = {
    ...testFoundation(mongo, env, clock),
    caches,
    secretCache: createCache(rethrow),
    ownNamespace: 'postwright',
    clusterWide: true,
    writer: createWriter(client as KubeClient),
    recorder: { record: () => undefined, flush: async () => undefined },
    assertLeader: () => undefined,
    enqueue: () => undefined,
  }
  return {
    context,
    clock,
    owners,
    secrets,
    add(kind, name, spec, more = {}, status) {
      const metadata = {
        ...{ name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1', generation: 1 },
        ...{ creationTimestamp: '2026-11-21T09:00:00Z', annotations: {}, finalizers: [], ...more },
      }
      const object = { metadata, spec, ...(status ? { status } : {}) }
      caches.get(kind)?.put(object)
      return object
    },
  }
}

/** Revisions are unique in the process; caches compare them. */
let lastRevision = 0

function rethrow(error: unknown): never {
  throw error
}

function answer(
  { method, path, body }: KubeRequest,
  owners: ReadonlyMap<string, string>,
  secrets: Map<string, SecretObject>,
): unknown {
  const [, namespace] = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path) ?? []
  if (namespace !== undefined) {
    const listed = owners.get(namespace)
    const annotations = listed === undefined ? {} : { 'postwright.dev/owners': listed }
    return { metadata: { name: namespace, uid: namespace, annotations } }
  }
  const name = path.split('/').at(-1) ?? ''
  const stored = secrets.get(name)
  if (method === 'GET') {
    if (!stored) throw new KubeError(404, 'NotFound', `no secret ${name}`)
    return stored
  }
  const sent = body as SecretObject & { stringData?: Record<string, string> }
  // A Secret that was deleted and created again is another object.
  const revision = String(++lastRevision)
  const uid = stored?.metadata.uid ?? `uid-${revision}`
  const secret = { ...sent, metadata: { ...stored?.metadata, ...sent.metadata, uid, resourceVersion: revision } }
  secrets.set(sent.metadata.name, secret)
  return secret
}
