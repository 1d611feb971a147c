import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Interruption, interrupted, Killed } from '../../../../test/support/dns/interrupted-provider.ts'
import {
  createMemoryProvider,
  type MemoryBatch,
  type MemoryZone,
} from '../../../../test/support/dns/memory-provider.ts'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { planDns, questionsOf } from '../../dns/plan/dns-plan.ts'
import type { OwnedRecord } from '../../dns/plan/plan-item.ts'
import { planRemoval } from '../../dns/plan/plan-removal.ts'
import { type DnsProvider, DnsProviderError } from '../../dns/providers/provider.ts'
import { type GuidanceDomain, guidance, spfTerms } from '../../dns/records/guidance.ts'
import type { StoredRecord } from '../../dns/records/record.ts'
import { isSpf } from '../../dns/records/spf.ts'
import { applyDnsPlan, type DnsPlanner, dnsPlanId } from './apply-dns-plan.ts'
import type { Ledger } from './record-ledger.ts'
import { readState } from './zone-state.ts'

const host = { hostname: 'mail.example.com', addresses: ['192.0.2.10'], spfMechanisms: ['include:_spf.example.net'] }
const domain: GuidanceDomain = {
  name: 'example.com',
  verification_token: 'token-ours',
  dkim: [{ selector: 's1', algorithm: 'rsa-sha256', public_key: 'QUJD', state: 'active' }],
}
const rows = guidance(domain, host)
const plannerFor =
  (sender: typeof host): DnsPlanner =>
  (state, owned) =>
    planDns({
      ...state,
      rows: guidance(domain, sender),
      owned,
      accepted: new Set(),
      spfTerms: spfTerms(domain, sender),
      inheritedDmarc: { kind: 'none' },
    })
const planner = plannerFor(host)
const removal: DnsPlanner = (state, owned) => planRemoval({ ...state, owned })
const options = { questions: questionsOf(rows), note: 'test', replaced: 'restore' as const }

const record = (type: string, name: string, value: string): StoredRecord => ({
  id: `${type} ${name} ${value}`,
  name,
  type,
  value,
  ttl: 300,
})
const txt = (name: string, value: string) => record('TXT', name, value)

function memoryLedger(entries: OwnedRecord[] = []): Ledger & { entries: OwnedRecord[] } {
  const same = (a: OwnedRecord, b: OwnedRecord) =>
    a.row === b.row && a.name === b.name && a.type === b.type && a.value === b.value
  const ledger = {
    entries,
    read: async () => structuredClone(ledger.entries),
    write: async (entries: readonly OwnedRecord[]) => {
      await ledger.forget(entries)
      ledger.entries = [...ledger.entries, ...structuredClone(entries)]
    },
    forget: async (entries: readonly OwnedRecord[]) => {
      ledger.entries = ledger.entries.filter(other => !entries.some(entry => same(other, entry)))
    },
  }
  return ledger
}
const zoneOf = (records: StoredRecord[] = []): MemoryZone => ({
  name: 'example.com',
  records: structuredClone(records),
})
const values = (zone: MemoryZone) => zone.records.map(({ type, name, value }) => `${name} ${type} ${value}`).toSorted()

/** A provider whose method misbehaves once. */
function failing(
  provider: DnsProvider,
  method: 'create' | 'update' | 'remove' | 'read',
  error: DnsProviderError,
  times = 1,
): DnsProvider {
  let left = times
  const broken = { ...provider }
  const original: (...input: never[]) => Promise<unknown> = provider[method]
  Object.assign(broken, {
    [method]: async (...input: never[]) => {
      if (left-- > 0) throw error
      return original(...input)
    },
  })
  return broken
}
const providerError = (kind: DnsProviderError['kind'], more: { retryAfter?: number; permission?: string } = {}) =>
  new DnsProviderError('memory', kind, verbatim(`it is ${kind}`), more)

describe('an application', () => {
  test('writes everything into an empty zone, and a second one writes nothing', async () => {
    const zone = zoneOf()
    const ledger = memoryLedger()
    const first = await applyDnsPlan(createMemoryProvider([zone]), planner, ledger, options)
    expect(first.stopped).toBeUndefined()
    expect(first.items.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done', 'done'])
    expect(ledger.entries.every(({ record_id }) => record_id !== undefined)).toBe(true)
    const before = values(zone)
    const again = interrupted(createMemoryProvider([zone]), ledger)
    const second = await applyDnsPlan(again.provider, planner, again.ledger, options)
    expect(second.items.map(({ status }) => status)).toEqual(['kept', 'kept', 'kept', 'kept', 'kept'])
    expect(values(zone)).toEqual(before)
    expect(again.calls()).toBe(2) // the ledger and the names
  })

  test('merges SPF, leaves the rest of the zone, and puts all back at the end', async () => {
    const initial = [
      txt('example.com', 'v=spf1  mx -all'),
      txt('example.com', 'site=1'),
      record('MX', 'example.com', '10 mx.example.com'),
    ]
    const zone = zoneOf(initial)
    const ledger = memoryLedger()
    await applyDnsPlan(createMemoryProvider([zone]), planner, ledger, options)
    expect(zone.records.filter(({ value }) => isSpf(value))).toEqual([
      { ...initial[0], value: 'v=spf1  mx ip4:192.0.2.10 include:_spf.example.net -all' },
    ])
    await applyDnsPlan(createMemoryProvider([zone]), removal, ledger, { ...options, questions: [] })
    expect(zone.records.filter(({ type }) => type !== 'A')).toEqual(initial)
    expect(ledger.entries.map(({ row }) => row)).toEqual(['address:192.0.2.10'])
  })

  test('replaces what the owner accepted, and remembers the old value only when asked to', async () => {
    const initial = [txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG')]
    const accepting: DnsPlanner = (state, owned) =>
      planDns({ ...state, rows, owned, accepted: new Set(['dkim:s1']), spfTerms: [], inheritedDmarc: { kind: 'none' } })
    for (const [replaced, left] of [
      ['restore', initial.length],
      ['own', 0],
    ] as const) {
      const zone = zoneOf(initial)
      const ledger = memoryLedger()
      await applyDnsPlan(createMemoryProvider([zone]), accepting, ledger, { ...options, replaced })
      await applyDnsPlan(createMemoryProvider([zone]), removal, ledger, { ...options, questions: [] })
      expect(zone.records.filter(({ name }) => name.startsWith('s1'))).toHaveLength(left)
    }
  })
})

test.each<MemoryBatch>(['none', 'plain', 'guarded'])(
  'an SPF record of ours gives way to one that its owner adds, and goes into it in the same run: %s',
  async batch => {
    const zone = zoneOf()
    const ledger = memoryLedger()
    const provider = createMemoryProvider([zone], batch)
    await applyDnsPlan(provider, planner, ledger, options)
    const theirs = txt('example.com', 'v=spf1 mx -all')
    zone.records.push(structuredClone(theirs))
    const { items, stopped } = await applyDnsPlan(provider, planner, ledger, options)
    expect(stopped).toBeUndefined()
    expect(items.find(({ row }) => row === 'spf')).toMatchObject({ action: 'update', status: 'done' })
    const spf = () => zone.records.filter(({ value }) => isSpf(value))
    expect(spf()).toEqual([{ ...theirs, value: 'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net -all' }])
    await applyDnsPlan(provider, removal, ledger, { ...options, questions: [] })
    expect(spf()).toEqual([theirs])
  },
)

describe('an SPF record that its owner changes meanwhile', () => {
  const INITIAL = 'v=spf1  mx -all'
  const after = 'v=spf1  mx include:new.example -all'
  const extend = (value: string) => value.replace(/(?= [-~]all$)/, ' include:new.example')
  const withoutUs = (value: string) => value.replaceAll(/ (?:ip4|include):\S+/g, '')
  const moved = { ...host, addresses: ['192.0.2.99'] }
  test.each<[string, string | undefined, (value: string) => string, typeof host, string[]]>([
    ['leaves it alone; our servers move', INITIAL, value => value, moved, [INITIAL]],
    ['adds a sender', INITIAL, extend, host, [after]],
    ['adds a sender; our servers move', INITIAL, extend, moved, [after]],
    ['takes us out and adds a sender', INITIAL, value => extend(withoutUs(value)), host, [after]],
    ['takes us out and adds a sender; our servers move', INITIAL, value => extend(withoutUs(value)), moved, [after]],
    ['changes the end; our servers move', INITIAL, value => value.replace('-all', '~all'), moved, ['v=spf1  mx ~all']],
    ['leaves the one that we made', undefined, value => value, moved, []],
    ['extends the one that we made', undefined, extend, host, ['v=spf1 include:new.example ~all']],
    ['extends the one that we made; our servers move', undefined, extend, moved, ['v=spf1 include:new.example ~all']],
  ])("%s: it gets back what is the owner's", async (_, initial, edit, then, left) => {
    const zone = zoneOf(initial === undefined ? [] : [txt('example.com', initial)])
    const provider = createMemoryProvider([zone])
    const ledger = memoryLedger()
    const spf = () => zone.records.filter(({ value }) => isSpf(value))
    await applyDnsPlan(provider, planner, ledger, options)
    for (const stored of spf()) stored.value = edit(stored.value)
    await applyDnsPlan(provider, plannerFor(then), ledger, options)
    for (const term of spfTerms(domain, then))
      expect(spf().map(({ value }) => value)).toEqual([expect.stringContaining(term)])
    await applyDnsPlan(provider, removal, ledger, { ...options, questions: [] })
    expect(spf().map(({ value }) => value)).toEqual(left)
    expect(ledger.entries.filter(({ row }) => row === 'spf')).toEqual([])
  })
})

describe('an SPF record whose update was interrupted', () => {
  const entry = (value: string, before?: string): OwnedRecord => ({
    row: 'spf',
    name: 'example.com',
    type: 'TXT',
    value,
    ...(before === undefined ? {} : { before }),
  })
  const OLD = 'v=spf1 ip4:192.0.2.10 include:_spf.example.net ~all'
  const NEW = 'v=spf1 ip4:192.0.2.99 include:_spf.example.net ~all'
  const THEIRS = 'v=spf1 mx -all'
  const merged = (ip: string) => `v=spf1 mx ip4:${ip} -all`
  const two = [entry(OLD), entry(NEW)]
  const twoMerged = [entry(merged('192.0.2.10'), THEIRS), entry(merged('192.0.2.99'), THEIRS)]
  test.each<[string, OwnedRecord[], string, string[]]>([
    ['ours, the write took effect', two, NEW, []],
    ['ours, the write took no effect', two, OLD, []],
    [
      'ours, and its owner added a sender to both',
      two,
      'v=spf1 ip4:192.0.2.10 ip4:192.0.2.99 include:_spf.example.net mx ~all',
      ['v=spf1 mx ~all'],
    ],
    ['merged, the write took effect', twoMerged, merged('192.0.2.99'), [THEIRS]],
    ['merged, the write took no effect', twoMerged, merged('192.0.2.10'), [THEIRS]],
    ['merged, and its owner changed the end', twoMerged, 'v=spf1 mx ip4:192.0.2.99 ~all', ['v=spf1 mx ~all']],
  ])('%s: a removal leaves nothing of ours', async (_, entries, present, left) => {
    for (const owned of [entries, entries.toReversed()]) {
      const zone = zoneOf([txt('example.com', present)])
      const ledger = memoryLedger(owned)
      const { items, stopped } = await applyDnsPlan(createMemoryProvider([zone]), removal, ledger, {
        ...options,
        questions: [],
      })
      expect(stopped).toBeUndefined()
      expect(items.map(({ status }) => status)).toEqual(['done'])
      expect(zone.records.map(({ value }) => value)).toEqual(left)
      expect(removal(await readState(createMemoryProvider([zone]), [], ledger.entries), ledger.entries)).toEqual([])
    }
  })
})

describe('errors of the provider', () => {
  test.each([
    ['rate_limited', providerError('rate_limited', { retryAfter: 30 }), { retryAfter: 30 }],
    ['permission', providerError('permission', { permission: 'dns:edit' }), { permission: 'dns:edit' }],
    ['auth', providerError('auth'), {}],
    ['unavailable', providerError('unavailable'), {}],
  ] as const)('%s stops the run, says why, and leaves the rest undone', async (kind, error, more) => {
    const { items, stopped } = await applyDnsPlan(
      failing(createMemoryProvider([zoneOf()]), 'create', error),
      planner,
      memoryLedger(),
      options,
    )
    expect(stopped).toMatchObject({ kind: kind, ...more })
    expect(items.every(({ status }) => status === 'not_done')).toBe(true)
  })

  test.each(['invalid', 'locked', 'conflict'] as const)(
    '%s fails one item and does not keep the others',
    async kind => {
      const { items, stopped } = await applyDnsPlan(
        failing(createMemoryProvider([zoneOf()]), 'create', providerError(kind)),
        planner,
        memoryLedger(),
        options,
      )
      expect(stopped).toBeUndefined()
      expect(items.map(({ status }) => status)).toEqual(['failed', 'done', 'done', 'done', 'done'])
      expect(items[0]?.message).toEqual(verbatim(`it is ${kind}`))
    },
  )

  test('a duplicate that the list does not show yet is pending, never a second record', async () => {
    const zone = zoneOf()
    const real = createMemoryProvider([zone])
    let created = 0
    const lagging: DnsProvider = {
      ...real,
      read: async questions => (await real.read(questions)).map(state => ({ ...state, records: [] })),
      create: (where, wanted, note) => {
        created++
        return real.create(where, wanted, note)
      },
    }
    const { items } = await applyDnsPlan(lagging, planner, memoryLedger(), options)
    expect(items.map(({ status }) => status)).toEqual(Array(5).fill('pending'))
    expect(created).toBe(5)
    const again = await applyDnsPlan(lagging, planner, memoryLedger(), options)
    expect(again.items.map(({ status }) => status)).toEqual(Array(5).fill('pending'))
    expect(zone.records).toHaveLength(5)
  })

  test('an SPF record that somebody adds in the same moment ends up merged, and ours goes', async () => {
    const zone = zoneOf()
    const real = createMemoryProvider([zone])
    const racing: DnsProvider = {
      ...real,
      create: (where, wanted, note) => {
        if (isSpf(wanted.value)) zone.records.push(txt('example.com', 'v=spf1 mx -all'))
        return real.create(where, wanted, note)
      },
    }
    await applyDnsPlan(racing, planner, memoryLedger(), options)
    expect(zone.records.filter(({ value }) => isSpf(value)).map(({ value }) => value)).toEqual([
      'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net -all',
    ])
  })

  test('an edit between two updates is seen and planned anew', async () => {
    const zone = zoneOf([txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG'), txt('example.com', 'v=spf1 mx -all')])
    const real = createMemoryProvider([zone])
    const accepting: DnsPlanner = (state, owned) =>
      planDns({
        ...state,
        rows,
        owned,
        accepted: new Set(['dkim:s1']),
        spfTerms: spfTerms(domain, host),
        inheritedDmarc: { kind: 'none' },
      })
    const edit: DnsProvider = {
      ...real,
      update: async (where, before, wanted) => {
        const spf = zone.records.find(({ value }) => isSpf(value))
        if (spf && before.name.startsWith('s1')) spf.value = 'v=spf1 mx include:new.example -all'
        return real.update(where, before, wanted)
      },
    }
    const { stopped } = await applyDnsPlan(edit, accepting, memoryLedger(), options)
    expect(stopped).toBeUndefined()
    expect(zone.records.map(({ value }) => value)).toContain(
      'v=spf1 mx include:new.example ip4:192.0.2.10 include:_spf.example.net -all',
    )
  })
})

describe('a batch', () => {
  const batched = (zone: MemoryZone, kind: MemoryBatch, spoil?: (tries: number) => DnsProviderError | undefined) => {
    const real = createMemoryProvider([zone], kind)
    const { batch } = real
    const calls: string[] = []
    const provider: DnsProvider = {
      ...real,
      read: questions => {
        calls.push('read')
        return real.read(questions)
      },
      create: (where, wanted, note) => {
        calls.push('create')
        return real.create(where, wanted, note)
      },
      ...(batch
        ? {
            batch: {
              guarded: batch.guarded,
              write: async (...change) => {
                calls.push('batch')
                const error = spoil?.(calls.filter(call => call === 'batch').length)
                if (error) throw error
                return batch.write(...change)
              },
            },
          }
        : {}),
    }
    return { provider, calls }
  }

  test.each<[MemoryBatch, string[]]>([
    ['guarded', ['read', 'batch']],
    ['plain', ['read', 'batch', 'read']],
    ['none', ['read', 'create', 'create', 'create', 'create', 'create', 'read']],
  ])('%s: a first application is %j', async (kind, expected) => {
    const zone = zoneOf()
    const { provider, calls } = batched(zone, kind)
    const { items } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect(items.map(({ status }) => status)).toEqual(Array(5).fill('done'))
    expect(zone.records).toHaveLength(5)
    expect(calls).toEqual(expected)
  })

  test('one that somebody was faster than is planned anew from what is there then', async () => {
    const zone = zoneOf()
    const { provider } = batched(zone, 'guarded', tries => {
      if (tries === 1) zone.records.push(txt('example.com', 'v=spf1 mx -all'))
      return undefined
    })
    const { items, stopped } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect({ stopped, statuses: items.map(({ status }) => status) }).toEqual({
      stopped: undefined,
      statuses: Array(5).fill('done'),
    })
    expect(zone.records.filter(({ value }) => isSpf(value))).toHaveLength(1)
  })

  test.each(['permission', 'invalid', 'locked', 'conflict', 'duplicate'] as const)(
    'one that is refused as %s is written record by record',
    async kind => {
      const zone = zoneOf()
      const { provider, calls } = batched(zone, 'plain', () => providerError(kind))
      const { items, stopped } = await applyDnsPlan(provider, planner, memoryLedger(), options)
      expect(stopped).toBeUndefined()
      expect(items.map(({ status }) => status)).toEqual(Array(5).fill('done'))
      expect(calls.filter(call => call === 'create')).toHaveLength(5)
    },
  )

  test('one whose outcome stays unknown is tried twice and no more', async () => {
    const { provider, calls } = batched(zoneOf(), 'plain', () => providerError('unknown_outcome'))
    const { items } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect(items.map(({ status }) => status)).toEqual(Array(5).fill('failed'))
    expect(calls.filter(call => call === 'batch')).toHaveLength(2)
  })

  test('one that somebody is always faster than is left with a word', async () => {
    const { provider } = batched(zoneOf(), 'guarded', () => providerError('changed'))
    const { stopped } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect(stopped).toMatchObject({ kind: 'unsettled' })
  })
})

test('equal plans have equal ids, and any other record makes another plan', async () => {
  const idOf = async (records: StoredRecord[]) =>
    dnsPlanId(planner(await readState(createMemoryProvider([zoneOf(records)]), options.questions), []))
  expect(await idOf([])).toBe(await idOf([]))
  expect(await idOf([txt('example.com', 'v=spf1 -all')])).not.toBe(await idOf([txt('example.com', 'v=spf1 mx -all')]))
})

const anyZone = fc.subarray([
  txt('example.com', 'v=spf1 mx ~all'),
  txt('example.com', 'site=1'),
  txt('_dmarc.example.com', 'v=DMARC1; p=reject'),
  txt('_postwright-challenge.example.com', 'token-rival'),
  txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG'),
  record('A', 'mail.example.com', '198.51.100.1'),
  record('CNAME', '_dmarc.example.com', 'dmarc.vendor.example'),
  record('MX', 'example.com', '10 mx.example.com'),
])
const anyEnd = fc.record({
  at: fc.integer({ min: 1, max: 25 }),
  how: fc.constantFrom('before', 'after', 'cut'),
}) as fc.Arbitrary<Interruption>

/** Runs until killed or done; a cut is survived within the run. */
async function runOnce(
  zone: MemoryZone,
  ledger: Ledger,
  plan: DnsPlanner,
  end: Interruption | undefined,
  batch: MemoryBatch = 'none',
): Promise<boolean> {
  const parts = interrupted(createMemoryProvider([zone], batch), ledger, end)
  try {
    await applyDnsPlan(parts.provider, plan, parts.ledger, plan === planner ? options : { ...options, questions: [] })
    return end === undefined || parts.calls() < end.at
  } catch (error) {
    if (!(error instanceof Killed)) throw error
    return false
  }
}

test(
  'interrupted at any call and started again, it comes to the same zone, and removal gives back the first one',
  () =>
    fc.assert(
      fc.asyncProperty(
        anyZone,
        fc.array(anyEnd, { maxLength: 4 }),
        fc.array(anyEnd, { maxLength: 3 }),
        fc.constantFrom<MemoryBatch>('none', 'plain', 'guarded'),
        async (initial, ends, removalEnds, batch) => {
          const straight = zoneOf(initial)
          await runOnce(straight, memoryLedger(), planner, undefined)
          const zone = zoneOf(initial)
          const ledger = memoryLedger()
          for (const end of [...ends, undefined]) await runOnce(zone, ledger, planner, end, batch)
          expect(values(zone)).toEqual(values(straight))
          for (const end of [...removalEnds, undefined]) await runOnce(zone, ledger, removal, end, batch)
          const made = (records: StoredRecord[]) =>
            records.filter(({ id, type }) => type !== 'A' || !id.startsWith('m'))
          expect(made(zone.records)).toEqual(initial)
        },
      ),
      { numRuns: 1500 },
    ),
  120_000,
)
