/** The Secrets of a first installation on a real API server, with an administrator's rights. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSecretOnce } from '../../operator/bootstrap/create-secret.ts'
import { keepCertificate } from '../../operator/bootstrap/keep-certificate.ts'
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

onApiServer('keepCertificate', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin.close())
  const now = new Date()
  const later = (days: number) => new Date(now.getTime() + days * 86_400_000)
  const keep = (name: string, hosts: string[], at = now) => keepCertificate(admin, { namespace, name }, hosts, at)
  const read = async (name: string) => {
    const { data } = await admin.request<KubeObject & { data: Record<string, string> }>({
      method: 'GET',
      path: `${secretsPath(namespace)}/${name}`,
    })
    const pem = (key: string) => Buffer.from(data[key] ?? '', 'base64')
    return { certificate: new X509Certificate(pem('tls.crt')), key: createPrivateKey(pem('tls.key')) }
  }

  test('makes one, keeps it while it covers the host names, and makes another one after a change', async () => {
    expect(await keep('own', ['mail.example.com', 'smtp.mail.svc'])).toEqual({ state: 'created' })
    const first = await read('own')
    expect(await keep('own', ['mail.example.com'])).toEqual({ state: 'kept' })
    expect((await read('own')).certificate.fingerprint256).toBe(first.certificate.fingerprint256)
    expect(await keep('own', ['post.example.com', 'smtp.mail.svc'])).toEqual({ state: 'renewed', reason: 'hosts' })
    const { certificate, key } = await read('own')
    expect(certificate.subjectAltName).toBe('DNS:post.example.com, DNS:smtp.mail.svc')
    expect(certificate.checkPrivateKey(key)).toBe(true)
  })

  test('keeps a self-signed one that lacks the name of a Service only', async () => {
    await keep('users', ['mail.example.com'])
    const first = await read('users')
    expect(await keep('users', ['mail.example.com', 'smtp.mail.svc'])).toEqual({ state: 'kept' })
    expect((await read('users')).certificate.fingerprint256).toBe(first.certificate.fingerprint256)
  })

  test('makes another one two months before the end', async () => {
    await keep('old', ['mail.example.com'])
    expect(await keep('old', ['mail.example.com'], later(764))).toEqual({ state: 'kept' })
    expect(await keep('old', ['mail.example.com'], later(766))).toEqual({ state: 'renewed', reason: 'expiry' })
    expect(Date.parse((await read('old')).certificate.validTo)).toBeGreaterThan(later(1_500).getTime())
  })

  test('never changes a certificate that another issuer signed', async () => {
    const { cert, key } = await signedByAnotherIssuer(['mail.example.com'])
    await createSecretOnce(admin, { namespace, name: 'foreign' }, 'kubernetes.io/tls', {
      'tls.crt': cert,
      'tls.key': key,
    })
    expect(await keep('foreign', ['mail.example.com'])).toEqual({ state: 'kept' })
    expect(await keep('foreign', ['mail.example.com', 'smtp.mail.svc'])).toEqual({
      state: 'foreign',
      uncovered: ['smtp.mail.svc'],
    })
    expect((await read('foreign')).certificate.toString()).toBe(new X509Certificate(cert).toString())
  })

  test('replaces what is no certificate', async () => {
    await createSecretOnce(admin, { namespace, name: 'broken' }, 'kubernetes.io/tls', {
      'tls.crt': 'x',
      'tls.key': 'y',
    })
    expect(await keep('broken', ['mail.example.com'])).toEqual({ state: 'renewed', reason: 'hosts' })
    expect((await read('broken')).certificate.checkHost('mail.example.com')).toBe('mail.example.com')
  })
})

/** A certificate as a public authority issues it. */
async function signedByAnotherIssuer(hosts: string[]) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'Authority' }], { keyType: 'ec' })
  const made = await generate([{ name: 'commonName', value: hosts[0] ?? '' }], {
    keyType: 'ec',
    ca: { key, cert },
    extensions: [{ name: 'subjectAltName', altNames: hosts.map(value => ({ type: 2 as const, value })) }],
  })
  return { cert: made.cert, key: made.private }
}

test('neededSecrets returns different secrets for each installation, and the address of the trial database in MONGODB_URI', () => {
  const [one, two] = [neededSecrets('db-0.db.ns.svc'), neededSecrets('')]
  expect(new Set([one.SESSION_SECRET, two.SESSION_SECRET, one.ADMIN_PASSWORD, two.ADMIN_PASSWORD]).size).toBe(4)
  expect(one.MONGODB_URI).toBe(
    `mongodb://postwright:${one.MONGODB_PASSWORD}@db-0.db.ns.svc:27017/postwright?replicaSet=postwright&authSource=admin`,
  )
  expect(one.MONGODB_KEYFILE).toMatch(/^[A-Za-z0-9+/=]{6,1024}$/)
  expect(Object.keys(two)).toEqual(['SESSION_SECRET', 'ADMIN_USERNAME', 'ADMIN_PASSWORD'])
})
