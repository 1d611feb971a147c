/** The adapter over a DNSEndpoint, with an object in memory: what is written, what is foreign, and who was faster. */
import { expect, test } from 'vitest'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import type { OwnedRecord } from '../../plan/plan-item.ts'
import { DnsProviderError } from '../provider.ts'
import type { RecordSet } from '../record-sets/record-set.ts'
import {
  createDnsEndpointProvider,
  type Endpoint,
  type EndpointStore,
  endpointsByLedger,
  type TxtFormat,
} from './dns-endpoint.ts'

const DOMAIN = 'zone.test'
const KEY = `v=DKIM1; k=rsa; p=${'a'.repeat(300)}`
const entry = (name: string, value: string, type: OwnedRecord['type'] = 'TXT'): OwnedRecord => ({
  ...{ row: name, name, type, value },
})
const wanted = (name: string, value: string, type: OwnedRecord['type'] = 'TXT') => ({ name, type, value, ttl: 600 })

interface Given {
  endpoints?: Endpoint[]
  owned?: OwnedRecord[]
  published?: RecordSet[]
  txtFormat?: TxtFormat
}

function fixture({ endpoints, owned = [], published = [], txtFormat = 'quoted' }: Given = {}) {
  const state = { endpoints, revision: 1, asked: [] as string[] }
  const store: EndpointStore = {
    read: async () =>
      state.endpoints && { endpoints: state.endpoints, revision: String(state.revision), isOutdated: false },
    async write(next, known) {
      if (known?.revision !== (state.endpoints && String(state.revision)))
        throw new DnsProviderError('dnsendpoint', 'changed', sentence('dns_provider.records_changed'))
      state.endpoints = [...next]
      state.revision++
    },
  }
  const provider = createDnsEndpointProvider({
    ...{ domain: DOMAIN, store, txtFormat },
    owned: async () => owned,
    async published(name) {
      state.asked.push(name)
      return published.filter(set => set.name === name)
    },
  })
  const zone = async () => (await provider.findZone(DOMAIN)) ?? expect.fail('no zone')
  return { state, provider, zone, owned }
}

test('one write makes the object, with values as external-dns takes them', async () => {
  const { provider, zone, state, owned } = fixture()
  const records = [
    wanted('k._domainkey.zone.test', KEY),
    wanted('bounce.zone.test', '10 mx.example.net', 'MX'),
    wanted('links.zone.test', 'panel.example.net', 'CNAME'),
  ]
  owned.push(...records.map(({ name, value, type }) => entry(name, value, type)))
  const changes = records.map(record => ({ action: 'create' as const, record }))
  const stored = await provider.batch?.write(await zone(), changes, [], '')
  expect(stored?.map(record => record?.value)).toEqual(records.map(({ value }) => value))
  expect([provider.batch?.guarded, state.revision]).toEqual([true, 2])
  expect(state.endpoints).toEqual([
    { dnsName: 'bounce.zone.test', recordType: 'MX', recordTTL: 600, targets: ['10 mx.example.net'] },
    {
      ...{ dnsName: 'k._domainkey.zone.test', recordType: 'TXT', recordTTL: 600 },
      targets: [`"${KEY.slice(0, 255)}" "${KEY.slice(255)}"`],
    },
    { dnsName: 'links.zone.test', recordType: 'CNAME', recordTTL: 600, targets: ['panel.example.net'] },
  ])
  const [state0] = await provider.read([{ name: 'k._domainkey.zone.test', types: ['TXT'] }])
  expect(state0?.records).toMatchObject([{ value: KEY, ttl: 600 }])
})

test('names outside of the domain have no zone', async () => {
  const { provider, state } = fixture()
  const names = ['other.test', 'notzone.test', 'mail.zone.test']
  const states = await provider.read(names.map(name => ({ name, types: ['A'] })))
  expect(states.map(({ zone }) => zone?.name)).toEqual([undefined, undefined, DOMAIN])
  expect(state.asked).toEqual(['mail.zone.test'])
})

const txt = (...values: string[]): RecordSet => ({
  name: DOMAIN,
  type: 'TXT',
  ttl: 0,
  values: values.map(v => `"${v}"`),
})

test.each<[string, RecordSet[], OwnedRecord[], string[]]>([
  ['nothing is published', [], [], []],
  ['a set of others is', [txt('site=1', 'v=spf1 -all')], [], ['site=1', 'v=spf1 -all']],
  ['our own set is, and the object was lost', [txt('v=spf1 -all')], [entry(DOMAIN, 'v=spf1 -all')], []],
  ['a set of both is', [txt('site=1', 'v=spf1 -all')], [entry(DOMAIN, 'v=spf1 -all')], ['site=1']],
])('while %s, records that are not ours are locked', async (_, published, owned, locked) => {
  const { provider, zone } = fixture({ published, owned })
  const records = await provider.list(await zone(), DOMAIN)
  expect(records.map(({ value }) => value)).toEqual(locked)
  expect(records.every(record => record.locked === true)).toBe(true)
})

test('a set of others is never extended', async () => {
  const { provider, zone, state } = fixture({ published: [txt('site=1')] })
  const failure = provider.create(await zone(), wanted(DOMAIN, 'v=spf1 -all'), '')
  await expect(failure).rejects.toMatchObject({ kind: 'locked' })
  expect(state.endpoints).toBeUndefined()
})

test('what the ledger does not have is no record, and goes with the next write', async () => {
  const junk: Endpoint = { dnsName: 'www.zone.test', recordType: 'A', targets: ['192.0.2.66'] }
  const dmarc = { dnsName: '_dmarc.zone.test', recordType: 'TXT', targets: ['"v=DMARC1; p=none"', '"junk"'] }
  const owned = [entry('_dmarc.zone.test', 'v=DMARC1; p=none')]
  const { provider, zone, state } = fixture({ endpoints: [junk, dmarc], owned })
  const records = await provider.list(await zone(), '_dmarc.zone.test')
  expect(records.map(({ value }) => value)).toEqual(['v=DMARC1; p=none'])
  owned.push(entry(DOMAIN, 'v=spf1 -all'))
  await provider.create(await zone(), wanted(DOMAIN, 'v=spf1 -all'), '')
  expect(state.endpoints?.map(({ dnsName, targets }) => [dnsName, targets])).toEqual([
    ['_dmarc.zone.test', ['"v=DMARC1; p=none"']],
    [DOMAIN, ['"v=spf1 -all"']],
  ])
})

test('an object that another program changed in between is not overwritten', async () => {
  const { provider, zone, state } = fixture({ endpoints: [] })
  await provider.list(await zone(), DOMAIN)
  state.revision++
  const failure = provider.create(await zone(), wanted(DOMAIN, 'v=spf1 -all'), '')
  await expect(failure).rejects.toMatchObject({ kind: 'changed' })
  // The next attempt reads it again.
  await provider.create(await zone(), wanted(DOMAIN, 'v=spf1 -all'), '')
  expect(state.endpoints).toHaveLength(1)
})

test.each<[TxtFormat, string]>([
  ['quoted', `"${KEY.slice(0, 255)}" "${KEY.slice(255)}"`],
  ['plain', KEY],
])('with the format %s, values of either form are rewritten', (format, target) => {
  const name = 'k._domainkey.zone.test'
  const known = (raw: string) => ({
    ...{ endpoints: [{ dnsName: name, recordType: 'TXT', targets: [raw] }], revision: '1', isOutdated: false },
  })
  for (const raw of [KEY, `"${KEY.slice(0, 255)}" "${KEY.slice(255)}"`])
    expect(endpointsByLedger(known(raw), [entry(name, KEY)], format)).toEqual([
      { dnsName: name, recordType: 'TXT', targets: [target] },
    ])
  expect(endpointsByLedger(undefined, [entry(name, KEY)], format)).toEqual([])
})
