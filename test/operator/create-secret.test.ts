/** The Secrets of a first installation on a real API server, with an administrator's rights. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSecretOnce } from '../../operator/bootstrap/create-secret.ts'
import { neededSecrets } from '../../operator/bootstrap/secret-values.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import { secretsPath } from '../../operator/kube/object-paths.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'

onApiServer('createSecretOnce', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin.close())

  const read = async (name: string) =>
    (
      await admin.request<KubeObject & { data: Record<string, string> }>({
        method: 'GET',
        path: `${secretsPath(namespace)}/${name}`,
      })
    ).data

  test('creates the Secret at the first call and changes nothing at the second', async () => {
    const first = await createSecretOnce(admin, { namespace, name: 'once' }, 'Opaque', { A: '1' })
    const second = await createSecretOnce(admin, { namespace, name: 'once' }, 'Opaque', { A: '2' })
    expect([first, second]).toEqual([
      { created: true, missing: [] },
      { created: false, missing: [] },
    ])
    expect(await read('once')).toEqual({ A: Buffer.from('1').toString('base64') })
  })

  test('leaves an existing Secret unchanged and returns its missing keys', async () => {
    await createSecretOnce(admin, { namespace, name: 'partial' }, 'Opaque', { A: '1' })
    expect(await createSecretOnce(admin, { namespace, name: 'partial' }, 'Opaque', { A: '2', B: '3', C: '4' })).toEqual(
      { created: false, missing: ['B', 'C'] },
    )
    expect(Object.keys(await read('partial'))).toEqual(['A'])
  })

  test('creates one Secret for five concurrent calls', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        createSecretOnce(admin, { namespace, name: 'race' }, 'Opaque', { N: String(n) }),
      ),
    )
    expect(made.filter(({ created }) => created)).toHaveLength(1)
  })
})

test('neededSecrets returns different secrets for each installation, and the address of the trial database in MONGODB_URI', () => {
  const [one, two] = [neededSecrets('db-0.db.ns.svc'), neededSecrets('')]
  expect(new Set([one.SESSION_SECRET, two.SESSION_SECRET, one.ADMIN_PASSWORD, two.ADMIN_PASSWORD]).size).toBe(4)
  expect(one.MONGODB_URI).toBe(
    `mongodb://postwright:${one.MONGODB_PASSWORD}@db-0.db.ns.svc:27017/postwright?replicaSet=postwright&authSource=admin`,
  )
  expect(one.MONGODB_KEYFILE).toMatch(/^[A-Za-z0-9+/=]{6,1024}$/)
  expect(Object.keys(two)).toEqual(['SESSION_SECRET', 'ADMIN_USERNAME', 'ADMIN_PASSWORD'])
})
