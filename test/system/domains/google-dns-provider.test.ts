/** Google Cloud DNS beyond what all providers have in common: zones, routing policies, concurrent changes, identities. */
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { createGoogle } from '../../../services/mail/dns/providers/google/google.ts'
import type { CredentialsOf } from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import { parseServiceAccountKey } from '../../../services/mail/dns/providers/rules/service-account-key.ts'
import { type GoogleOptions, serviceAccountKey, startGoogleDns } from '../../support/dns/fake-google-dns.ts'
import type { FakeCloud } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore } from '../../support/dns/fake-provider-zones.ts'
import { noBudget } from '../../support/dns/no-budget.ts'
import { expectLocked, FOREIGN_EDITS } from '../../support/dns/record-set-expectations.ts'

const running: FakeCloud[] = []
afterEach(async () => {
  for (const cloud of running.splice(0)) await cloud.stop()
})

const KEY = { service_account_key: serviceAccountKey() }

async function start(options: GoogleOptions = {}, names = ['zone.test']) {
  const store = createFakeStore(names, 60)
  const cloud = await startGoogleDns(store, options)
  running.push(cloud)
  const settings = { GOOGLE_TOKEN_URL: `${cloud.url}/token`, GCE_METADATA_HOST: new URL(cloud.url).host }
  const create = (credentials: CredentialsOf<'google'>, change: Partial<typeof settings> = {}) =>
    createGoogle(credentials, {
      ...{ endpoint: cloud.url, budget: noBudget, now: () => new Date(), counted: () => undefined, timeoutMs: 30_000 },
      settings: { ...settings, ...change },
    })
  return { store, cloud, create, provider: create(KEY) }
}

const dump = (store: FakeStore) => JSON.stringify(store.zone('zone.test').records)
const record = (value: string) => ({ name: 'x.zone.test', type: 'TXT' as const, value, ttl: 300 })

test('private zones are not seen; two public zones of one name need the name of the managed zone', async () => {
  const { store, create, provider } = await start({ privateZones: ['zone.test', 'internal.test'] }, [
    'zone.test',
    'zone.test',
  ])
  expect(await provider.findZone('x.internal.test')).toBeUndefined()
  await expect(provider.findZone('zone.test')).rejects.toMatchObject({ kind: 'zone_ambiguous' })
  const managed_zone = `zone-${store.zones[1]?.id}`
  const exact = create({ ...KEY, managed_zone })
  expect(await exact.findZone('x.zone.test')).toMatchObject({ id: managed_zone, name: 'zone.test' })
  expect((await exact.test()).map(({ id }) => id)).toEqual([managed_zone])
  const none = create({ ...KEY, managed_zone: 'other' })
  await expect(none.test()).rejects.toMatchObject({ kind: 'zone_not_found' })
})

test('a set with a routing policy is seen, locked and not written', async () => {
  const { store, provider } = await start()
  store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'v', line: 'eu' })
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  const before = dump(store)
  const [stored = expect.fail('none')] = await provider.list(zone, 'x.zone.test')
  expect(stored).toMatchObject({ locked: true })
  await expectLocked(provider, zone, stored, record('w'))
  expect(dump(store)).toBe(before)
})

test.each(FOREIGN_EDITS)('%s between the list and the write fails the write, and nothing is lost', async (_, edit) => {
  const { store, cloud, provider } = await start()
  store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'ours' })
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  const [stored = expect.fail('none')] = await provider.list(zone, 'x.zone.test')
  let after = ''
  cloud.before = operation => {
    if (!operation.endsWith('/changes')) return
    edit(store)
    after = dump(store)
  }
  await expect(provider.update(zone, stored, record('new'))).rejects.toMatchObject({
    kind: 'changed',
  })
  expect(dump(store)).toBe(after)
})

describe('identities', () => {
  test('the address in a key is not called: users choose it', async () => {
    const { cloud, provider } = await start()
    await provider.test()
    expect(cloud.calls).toContain('POST /token')
    expect(parseServiceAccountKey(serviceAccountKey())).not.toHaveProperty('token_uri')
  })

  test('one token for all calls', async () => {
    const { cloud, provider } = await start()
    const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
    await provider.create(zone, record('v'), '')
    expect(cloud.calls.filter(call => call === 'POST /token')).toHaveLength(1)
  })

  test.each<[string, string, string]>([
    ['a key of another service account', serviceAccountKey('stranger'), 'dns_provider.token_refused'],
    [
      'a key that is none',
      serviceAccountKey('writer', { private_key: '-----BEGIN PRIVATE KEY-----' }),
      'dns_provider.google_key',
    ],
    ['an EC key', serviceAccountKey('writer', { private_key: ecKey() }), 'dns_provider.google_key'],
  ])('%s is refused', async (_, service_account_key, code) => {
    const { create } = await start()
    await expect(create({ service_account_key }).test()).rejects.toMatchObject({ kind: 'auth', sentence: { code } })
  })

  test('a wrong clock is an authentication error', async () => {
    const { provider } = await start({ now: () => new Date(Date.now() + 3_600_000) })
    await expect(provider.test()).rejects.toMatchObject({ kind: 'auth' })
  })

  test('another project is not accessible', async () => {
    const { create } = await start()
    await expect(create({ ...KEY, project: 'other-project' }).test()).rejects.toMatchObject({
      ...{ kind: 'permission', permission: 'dns.managedZones.list' },
    })
  })

  test('the pod, from the metadata server', async () => {
    const { create } = await start()
    const provider = create({ workload_namespace: 'team' })
    expect((await provider.test()).map(({ name }) => name)).toEqual(['zone.test'])
    const nowhere = create({ workload_namespace: 'team' }, { GCE_METADATA_HOST: '127.0.0.1:1' })
    await expect(nowhere.test()).rejects.toMatchObject({
      kind: 'auth',
      sentence: { code: 'dns_provider.no_pod_identity' },
    })
  })

  test.each([
    ['nothing', ''],
    ['no JSON', 'key'],
    ['a key of a user', serviceAccountKey('writer', { type: 'authorized_user' })],
    ['a project with a path', serviceAccountKey('writer', { project_id: '../other' })],
    [
      'an external account, whose address users choose',
      JSON.stringify({ type: 'external_account', token_url: 'http://x' }),
    ],
  ])('%s is no key of a service account', (_, text) => expect(parseServiceAccountKey(text)).toBeUndefined())
})

function ecKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    ...{ namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'pem' } },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}
