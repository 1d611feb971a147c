import { expect, test } from 'vitest'
import type { StoredRecord } from '../records/record.ts'
import type { Batch, Change, DnsProvider, Zone } from './provider.ts'
import { scopedProvider } from './scoped-provider.ts'

const ZONE: Zone = { id: 'z', name: 'test', nameServers: [], warnings: [], minTtl: 60, maxTxt: 2_000 }
const stored = (name: string): StoredRecord => ({ id: name, name, type: 'TXT', value: 'x', ttl: 60 })
const wanted = (name: string) => ({ name, type: 'TXT' as const, value: 'x', ttl: 60 })

/** A provider that holds every name and records its calls. */
function recording() {
  const calls: string[] = []
  const call = <R>(what: string, result: R) => {
    calls.push(what)
    return Promise.resolve(result)
  }
  const batch: Batch = { guarded: true, write: (_zone, changes) => call(`batch ${changes.length}`, []) }
  const provider: DnsProvider = {
    type: 'memory',
    batch,
    test: () => call('test', [ZONE]),
    findZone: name => call(`zone ${name}`, ZONE),
    list: (_zone, name) => call(`list ${name}`, [stored(name)]),
    read: questions =>
      call(
        `read ${questions.map(({ name }) => name).join()}`,
        questions.map(({ name }) => ({ name, zone: ZONE, records: [stored(name)] })),
      ),
    create: (_zone, { name }) => call(`create ${name}`, stored(name)),
    update: (_zone, _before, { name }) => call(`update ${name}`, stored(name)),
    remove: (_zone, { name }) => call(`remove ${name}`, undefined),
  }
  return { calls, scoped: scopedProvider(provider, ['corp.test', 'b.test']) }
}

test('reads within the domains only, and answers in the order of the questions', async () => {
  const { calls, scoped } = recording()
  const names = ['www.other.test', 'corp.test', '_dmarc.b.test', 'evilcorp.test', 'test']
  const states = await scoped.read(names.map(name => ({ name, types: ['TXT'] })))
  expect(calls).toEqual(['read corp.test,_dmarc.b.test'])
  expect(states.map(({ name, zone, records }) => [name, zone?.name, records.length])).toEqual([
    ['www.other.test', undefined, 0],
    ['corp.test', 'test', 1],
    ['_dmarc.b.test', 'test', 1],
    ['evilcorp.test', undefined, 0],
    ['test', undefined, 0],
  ])
})

test('asks the provider nothing when all names are outside', async () => {
  const { calls, scoped } = recording()
  expect(await scoped.read([{ name: 'other.test', types: ['TXT'] }])).toEqual([{ name: 'other.test', records: [] }])
  expect(await scoped.findZone('other.test')).toBeUndefined()
  expect(await scoped.list(ZONE, 'other.test')).toEqual([])
  expect(calls).toEqual([])
})

test.each<[string, (scoped: DnsProvider, name: string) => Promise<unknown> | undefined]>([
  ['create', (scoped, name) => scoped.create(ZONE, wanted(name), '')],
  ['update', (scoped, name) => scoped.update(ZONE, stored(name), wanted(name))],
  ['an update to another name', (scoped, name) => scoped.update(ZONE, stored('corp.test'), wanted(name))],
  ['remove', (scoped, name) => scoped.remove(ZONE, stored(name))],
  ...(['create', 'update', 'delete'] as const).map(
    (action): [string, (scoped: DnsProvider, name: string) => Promise<unknown> | undefined] => [
      `a batch with a ${action}`,
      (scoped, name) => {
        const changes = {
          create: { action, record: wanted(name) },
          update: { action, before: stored(name), record: wanted(name) },
          delete: { action, before: stored(name) },
        }
        return scoped.batch?.write(
          ZONE,
          [{ action: 'create', record: wanted('a.corp.test') }, changes[action] as Change],
          [],
          '',
        )
      },
    ],
  ),
])('%s is passed on within the domains, and refused outside before any call', async (_, write) => {
  const { calls, scoped } = recording()
  await write(scoped, 'a.b.test')
  expect(calls).toHaveLength(1)
  calls.length = 0
  await expect(write(scoped, 'a.other.test')).rejects.toMatchObject({
    kind: 'permission',
    message: 'a.other.test is outside of the domains that this DNS account may write: corp.test, b.test.',
  })
  expect(calls).toEqual([])
})

test('credentials are tested as they are, and a provider without batches gets none', async () => {
  const { scoped } = recording()
  expect(await scoped.test()).toEqual([ZONE])
  expect(scoped.batch?.guarded).toBe(true)
  const { batch: _, ...single } = recording().scoped
  expect(scopedProvider(single, ['corp.test']).batch).toBeUndefined()
})
