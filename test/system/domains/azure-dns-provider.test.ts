/** Azure DNS beyond what all providers have in common: zones, aliases, ETags, links of pages, identities. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAzure } from '../../../services/mail/dns/providers/azure/azure.ts'
import type { CredentialsOf } from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import {
  AZURE,
  AZURE_POD_TOKEN,
  type AzureOptions,
  azureSettings,
  startAzureDns,
} from '../../support/dns/fake-azure-dns.ts'
import type { FakeCloud } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore } from '../../support/dns/fake-provider-zones.ts'
import { noBudget } from '../../support/dns/no-budget.ts'
import { expectLocked, FOREIGN_EDITS } from '../../support/dns/record-set-expectations.ts'

const running: FakeCloud[] = []
afterEach(async () => {
  for (const cloud of running.splice(0)) await cloud.stop()
})

type Settings = Parameters<typeof createAzure>[1]['settings']

async function start(options: AzureOptions = {}, names = ['zone.test']) {
  const store = createFakeStore(names, 60)
  const cloud = await startAzureDns(store, options)
  running.push(cloud)
  const create = (credentials: CredentialsOf<'azure'>, change: Partial<Settings> = {}) =>
    createAzure(credentials, {
      ...{ endpoint: cloud.url, budget: noBudget, now: () => new Date(), counted: () => undefined, timeoutMs: 30_000 },
      settings: { ...azureSettings(cloud.url), ...change },
    })
  return { store, cloud, create, provider: create(AZURE) }
}

const dump = (store: FakeStore) => JSON.stringify(store.zone('zone.test').records)
const record = (value: string) => ({ name: 'x.zone.test', type: 'TXT' as const, value, ttl: 300 })

test('private zones are not seen; a resource group limits the zones', async () => {
  const { create, provider } = await start({ privateZones: ['internal.test'] }, ['a.test', 'b.test', 'zone.test'])
  expect(await provider.findZone('x.internal.test')).toBeUndefined()
  expect(await provider.findZone('x.zone.test')).toMatchObject({
    ...{ name: 'zone.test', nameServers: ['ns1-01.azure-dns.test.', 'ns2-01.azure-dns.test.'] },
  })
  const grouped = create({ ...AZURE, resource_group: 'dns-group' })
  expect((await grouped.test()).map(({ name }) => name)).toEqual(['a.test', 'b.test', 'zone.test'])
  await expect(create({ ...AZURE, resource_group: 'other' }).test()).rejects.toMatchObject({ kind: 'zone_not_found' })
})

test('one name in two resource groups needs the group', async () => {
  const { provider } = await start({}, ['zone.test', 'zone.test'])
  await expect(provider.findZone('zone.test')).rejects.toMatchObject({
    ...{ kind: 'zone_ambiguous', sentence: { code: 'dns_provider.azure_ambiguous', params: { count: 2 } } },
  })
})

test('an alias of a resource is seen, locked and not written', async () => {
  const { store, provider } = await start()
  store.put('zone.test', { name: 'x.zone.test', type: 'A', value: '192.0.2.1', proxied: true })
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  const before = dump(store)
  const [stored = expect.fail('none')] = await provider.list(zone, 'x.zone.test')
  expect(stored).toMatchObject({ type: 'A', locked: true })
  const wanted = { ...record(''), type: 'A' as const, value: '192.0.2.9' }
  await expectLocked(provider, zone, stored, wanted)
  expect(dump(store)).toBe(before)
})

test('other values of a set stay as they are, in their parts, with the metadata', async () => {
  const { store, cloud, provider } = await start()
  for (const value of ['a "quoted" \\ text', 'grüß', 'x'.repeat(600)])
    store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value, comment: 'theirs' })
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  const before = dump(store)
  const made = await provider.create(zone, record('v=spf1 -all'), '')
  expect(store.zone('zone.test').records.map(({ value }) => value)).toHaveLength(4)
  expect(store.zone('zone.test').records[0]?.comment).toBe('theirs')
  await provider.remove(zone, made)
  expect(dump(store)).toBe(before)
  expect(cloud.calls.filter(call => call === 'PUT :set')).toHaveLength(2)
})

test.each(FOREIGN_EDITS)('%s between the list and the write fails the write, and nothing is lost', async (_, edit) => {
  const { store, cloud, provider } = await start()
  store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'ours' })
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  const [stored = expect.fail('none')] = await provider.list(zone, 'x.zone.test')
  let after = ''
  cloud.before = operation => {
    if (operation !== 'PUT :set') return
    edit(store)
    after = dump(store)
  }
  await expect(provider.update(zone, stored, record('new'))).rejects.toMatchObject({ kind: 'changed' })
  expect(dump(store)).toBe(after)
})

test('a set that appears before it is created is not replaced', async () => {
  const { store, cloud, provider } = await start()
  const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
  cloud.before = operation => {
    if (operation === 'PUT :set') store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'theirs' })
  }
  await expect(provider.create(zone, record('ours'), '')).rejects.toMatchObject({ kind: 'changed' })
  expect(dump(store)).toContain('theirs')
})

describe('identities', () => {
  const { tenant_id, client_id, client_secret, subscription_id } = AZURE

  test.each([
    ['a wrong secret', { client_secret: 'bad' }],
    ['another tenant', { tenant_id: subscription_id }],
    ['another client', { client_id: tenant_id }],
  ])('%s is refused without the secret in the message', async (_, change) => {
    const { create } = await start()
    await expect(create({ ...AZURE, ...change }).test()).rejects.toMatchObject({
      ...{ kind: 'auth', sentence: { code: 'dns_provider.token_refused' } },
      message: expect.not.stringContaining(client_secret),
    })
  })

  test('the pod, by its federated token', async () => {
    const { create } = await start()
    const folder = await mkdtemp(join(tmpdir(), 'pw-azure-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'token'), `${AZURE_POD_TOKEN}\n`)
    const pod = {
      AZURE_TENANT_ID: tenant_id,
      AZURE_CLIENT_ID: client_id,
      AZURE_FEDERATED_TOKEN_FILE: join(folder, 'token'),
    }
    const identity = { workload_namespace: 'team', subscription_id }
    expect((await create(identity, pod).test()).map(({ name }) => name)).toEqual(['zone.test'])
    await expect(create(identity).test()).rejects.toMatchObject({ sentence: { code: 'dns_provider.no_pod_identity' } })
    await expect(
      create(identity, { ...pod, AZURE_FEDERATED_TOKEN_FILE: '/nowhere/token' }).test(),
    ).rejects.toMatchObject({ sentence: { code: 'dns_provider.identity_token_missing' } })
  })
})
