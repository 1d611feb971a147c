/** One suite that every DNS provider passes: in memory, three clouds (strict fakes), Knot and BIND. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planDns, questionsOf } from '../../../services/mail/dns/plan/dns-plan.ts'
import type { OwnedRecord } from '../../../services/mail/dns/plan/plan-item.ts'
import { planRemoval } from '../../../services/mail/dns/plan/plan-removal.ts'
import type { Zone } from '../../../services/mail/dns/providers/provider.ts'
import { type GuidanceDomain, guidance, spfTerms } from '../../../services/mail/dns/records/guidance.ts'
import type { WantedRecord } from '../../../services/mail/dns/records/record.ts'
import { applyDnsPlan, type DnsPlanner } from '../../../services/mail/domains/publishing/apply-dns-plan.ts'
import type { Ledger } from '../../../services/mail/domains/publishing/record-ledger.ts'
import { FOREIGN, SUBJECTS, type Subject } from '../../support/dns/conformance-providers.ts'

const DKIM = `v=DKIM1; k=rsa; p=${'MIIB'.repeat(98)}`

describe.each(Object.keys(SUBJECTS))('%s', key => {
  let subject: Subject
  let zone: Zone
  beforeAll(async () => {
    const start = SUBJECTS[key]
    if (!start) throw new Error(`no subject ${key}`)
    subject = await start()
    const found = await subject.provider.findZone('zone.test')
    if (!found) throw new Error('no zone')
    zone = found
  })
  afterAll(() => subject?.stop())

  const txt = (host: string, value: string): WantedRecord => ({
    name: `${host}.zone.test`,
    type: 'TXT',
    value,
    ttl: Math.max(600, zone.minTtl),
  })
  const listed = async (name: string) =>
    (await subject.provider.list(zone, name)).map(({ type, value }) => `${type} ${value}`).toSorted()
  const providerError = (kind: string) => expect.objectContaining({ name: 'DnsProviderError', kind })

  test('tests its credentials', async () => {
    await expect(subject.provider.test()).resolves.toBeInstanceOf(Array)
  })

  test('finds the longest zone, and none for a stranger', async () => {
    expect((await subject.provider.findZone('s1._domainkey.zone.test'))?.name).toBe('zone.test')
    expect((await subject.provider.findZone('_dmarc.sub.zone.test'))?.name).toBe('sub.zone.test')
    expect((await subject.provider.findZone('www.zone.test'))?.name).toBe('zone.test')
    expect(await subject.provider.findZone('zone.example')).toBeUndefined()
    expect(await subject.provider.findZone('notzone.test')).toBeUndefined()
  })

  test('lists every type at exactly the name', async () => {
    expect(await listed('zone.test')).toEqual(
      FOREIGN.filter(({ name }) => name === 'zone.test')
        .map(({ type, value }) => `${type} ${value}`)
        .toSorted(),
    )
    expect(await listed('www.zone.test')).toEqual(['CNAME zone.test'])
    expect(await listed('nothing.zone.test')).toEqual([])
  })

  test('reads several names in one call, each with its zone', async () => {
    const names = ['zone.test', 'www.zone.test', 'nothing.zone.test', 'nothing.sub.zone.test', 'zone.example']
    const states = await subject.provider.read(names.map(name => ({ name, types: ['TXT', 'CNAME'] as const })))
    expect(
      states.map(({ name, zone: held, records }) => [
        name,
        held?.name,
        records.map(({ type, value }) => `${type} ${value}`).toSorted(),
      ]),
    ).toEqual([
      [
        'zone.test',
        'zone.test',
        FOREIGN.filter(({ name }) => name === 'zone.test')
          .map(({ type, value }) => `${type} ${value}`)
          .toSorted(),
      ],
      ['www.zone.test', 'zone.test', ['CNAME zone.test']],
      ['nothing.zone.test', 'zone.test', []],
      ['nothing.sub.zone.test', 'sub.zone.test', []],
      ['zone.example', undefined, []],
    ])
    // Of a name where only texts may be written, texts and aliases are enough.
    const [texts] = await subject.provider.read([{ name: 'zone.test', types: ['TXT'] }])
    expect(texts?.records.filter(({ type }) => type === 'TXT')).toHaveLength(2)
  })

  test('a batch is applied completely or not at all', async () => {
    const { provider } = subject
    if (!provider.batch) return
    const before = await subject.dump('zone.test')
    const seen = await provider.list(zone, 'zone.test')
    const spf = seen.find(({ value }) => value.startsWith('v=spf1')) ?? expect.fail('no SPF')
    const changed = { name: 'zone.test', type: 'TXT' as const, value: 'v=spf1 -all', ttl: spf.ttl }
    const made = await provider.batch.write(
      zone,
      [
        { action: 'create', record: txt('one', 'v') },
        { action: 'update', before: spf, record: changed },
        { action: 'create', record: txt('two', DKIM) },
      ],
      seen,
      'note',
    )
    expect(made.map(record => record?.value)).toEqual(['v', 'v=spf1 -all', DKIM])
    expect([await listed('one.zone.test'), await listed('two.zone.test')]).toEqual([['TXT v'], [`TXT ${DKIM}`]])
    expect(await provider.list(zone, 'two.zone.test')).toMatchObject([{ id: made[2]?.id }])
    // One of two cannot be created: an alias exists at its name.
    const refused = [
      { action: 'create' as const, record: txt('three', 'v') },
      { action: 'create' as const, record: txt('www', 'v') },
    ]
    await expect(provider.batch.write(zone, refused, [], 'note')).rejects.toMatchObject({
      kind: expect.stringMatching(/changed|conflict/),
    })
    expect(await listed('three.zone.test')).toEqual([])
    const now = (
      await Promise.all(['zone.test', 'one.zone.test', 'two.zone.test'].map(n => provider.list(zone, n)))
    ).flat()
    const [first, second, third] = made
    if (!first || !second || !third) throw new Error('nothing was made')
    await provider.batch.write(
      zone,
      [
        { action: 'delete', before: first },
        { action: 'update', before: second, record: { ...changed, value: spf.value } },
        { action: 'delete', before: third },
      ],
      now,
      'note',
    )
    expect(await subject.dump('zone.test')).toEqual(before)
    if (!provider.batch.guarded) return
    const stale = provider.batch.write(zone, [{ action: 'create', record: txt('one', 'v') }], [first], 'note')
    await expect(stale).rejects.toEqual(providerError('changed'))
  })

  test('creates a record that is listed and served, long keys completely', async () => {
    const before = await subject.dump('zone.test')
    const made = await subject.provider.create(zone, txt('s1._domainkey', DKIM), 'note')
    expect(await subject.provider.list(zone, made.name)).toMatchObject([{ id: made.id, type: 'TXT', value: DKIM }])
    if (subject.served) expect(await subject.served(made.name, 'TXT')).toEqual([DKIM])
    await subject.provider.remove(zone, made)
    expect(await subject.dump('zone.test')).toEqual(before)
  })

  test('keeps several values at a name apart', async () => {
    const one = await subject.provider.create(zone, txt('_challenge', 'token=1'), '')
    const two = await subject.provider.create(zone, txt('_challenge', 'token=2; with; semicolons, commas'), '')
    expect(await listed('_challenge.zone.test')).toEqual(['TXT token=1', 'TXT token=2; with; semicolons, commas'])
    const again = (await subject.provider.list(zone, '_challenge.zone.test')).find(({ value }) => value === 'token=1')
    await subject.provider.remove(zone, again ?? one)
    if (subject.served)
      expect(await subject.served('_challenge.zone.test', 'TXT')).toEqual(['token=2; with; semicolons, commas'])
    await subject.provider.remove(zone, two)
    expect(await listed('_challenge.zone.test')).toEqual([])
  })

  test('refuses the same record twice, and stores one', async () => {
    const made = await subject.provider.create(zone, txt('twice', 'v'), '')
    await expect(subject.provider.create(zone, txt('twice', 'v'), '')).rejects.toEqual(providerError('duplicate'))
    expect(await listed('twice.zone.test')).toEqual(['TXT v'])
    await subject.provider.remove(zone, made)
  })

  test('refuses a record beside an alias, and an alias beside a record', async () => {
    await expect(subject.provider.create(zone, txt('www', 'v'), '')).rejects.toEqual(providerError('conflict'))
    const alias: WantedRecord = { name: 'zone.test', type: 'CNAME', value: 'other.test', ttl: 600 }
    await expect(subject.provider.create(zone, alias, '')).rejects.toEqual(providerError('conflict'))
    expect(await listed('www.zone.test')).toEqual(['CNAME zone.test'])
  })

  test('updates in place and leaves its neighbours alone', async () => {
    const before = await subject.dump('zone.test')
    const spf =
      (await subject.provider.list(zone, 'zone.test')).find(({ value }) => value.startsWith('v=spf1')) ??
      expect.fail('no SPF')
    const wanted: WantedRecord = {
      name: 'zone.test',
      type: 'TXT',
      value: 'v=spf1 include:old.example ip4:192.0.2.1 -all',
      ttl: spf.ttl,
    }
    const after = await subject.provider.update(zone, spf, wanted)
    if (subject.served) expect(await subject.served('zone.test', 'TXT')).toContain(wanted.value)
    expect((await listed('zone.test')).filter(line => line.includes('v=spf1'))).toEqual([`TXT ${wanted.value}`])
    await subject.provider.update(zone, after, { ...wanted, value: spf.value })
    expect(await subject.dump('zone.test')).toEqual(before)
  })

  test('writes addresses and aliases', async () => {
    const address = await subject.provider.create(
      zone,
      { name: 'mail.zone.test', type: 'A', value: '192.0.2.10', ttl: 600 },
      '',
    )
    const alias = await subject.provider.create(
      zone,
      { name: 'bounce.zone.test', type: 'CNAME', value: 'bounces.other.test', ttl: 600 },
      '',
    )
    expect(await listed('mail.zone.test')).toEqual(['A 192.0.2.10'])
    expect(await listed('bounce.zone.test')).toEqual(['CNAME bounces.other.test'])
    if (subject.served) expect(await subject.served('mail.zone.test', 'A')).toEqual(['192.0.2.10'])
    await subject.provider.remove(zone, address)
    await subject.provider.remove(zone, alias)
  })

  test('updating a deleted record fails, removing it does not', async () => {
    const made = await subject.provider.create(zone, txt('gone', 'v'), '')
    await subject.provider.remove(zone, made)
    await expect(subject.provider.update(zone, made, txt('gone', 'w'))).rejects.toMatchObject({
      kind: expect.stringMatching(/changed|not_found/),
    })
    await expect(subject.provider.remove(zone, made)).resolves.toBeUndefined()
    expect(await listed('gone.zone.test')).toEqual([])
  })

  test('writes into the sub-zone, where it is served', async () => {
    const sub = (await subject.provider.findZone('x.sub.zone.test')) ?? expect.fail('no sub-zone')
    const made = await subject.provider.create(sub, { name: 'x.sub.zone.test', type: 'TXT', value: 'v', ttl: 600 }, '')
    if (subject.served) expect(await subject.served('x.sub.zone.test', 'TXT')).toEqual(['v'])
    await subject.provider.remove(sub, made)
  })

  test('wrong credentials, missing permissions and an absent server are distinguished', async () => {
    if (!subject.stranger || !subject.reader || !subject.absent) return
    const stranger = subject.stranger
    await expect(stranger.findZone('zone.test')).rejects.toEqual(providerError('auth'))
    const refused = await subject.reader.create(zone, txt('denied', 'v'), '').catch((error: unknown) => error)
    expect(refused).toMatchObject({ kind: 'permission', permission: expect.stringMatching(/./) })
    await expect(subject.absent.findZone('zone.test')).rejects.toEqual(providerError('unavailable'))
    expect(await listed('denied.zone.test')).toEqual([])
  })

  test('an MX record is written, changed, listed and removed', async () => {
    const { provider } = subject
    const name = 'mail.zone.test'
    const wanted = { name, type: 'MX' as const, value: '10 bounces.example.net', ttl: Math.max(600, zone.minTtl) }
    const made = await provider.create(zone, wanted, 'note')
    expect(made).toMatchObject({ name, type: 'MX', value: wanted.value })
    expect(await listed(name)).toEqual(['MX 10 bounces.example.net'])
    if (subject.served) expect(await subject.served(name, 'MX')).toEqual(['10 bounces.example.net'])
    const [read] = await provider.read([{ name, types: ['MX'] }])
    expect(read?.records).toMatchObject([{ id: made.id, type: 'MX', value: wanted.value }])
    await expect(provider.create(zone, wanted, 'note')).rejects.toEqual(providerError('duplicate'))
    const changed = await provider.update(zone, made, { ...wanted, value: '20 mx.example.net' })
    expect(await listed(name)).toEqual(['MX 20 mx.example.net'])
    await provider.remove(zone, changed)
    expect(await listed(name)).toEqual([])
  })

  test('the form of a return path is changed and changed back; nothing else at the zone changes', async () => {
    const name = 'bounce.zone.test'
    const host = { hostname: 'mx1.zone.test', addresses: ['192.0.2.10'], spfMechanisms: [], bounceDomain: 'in.example' }
    const base = { name: 'zone.test', verification_token: 'token', dkim: [] }
    const { entries, ledger } = memoryLedger()
    const apply = async (return_path_records: 'cname' | 'mx') => {
      const domain: GuidanceDomain = { ...base, dns: { return_path_records, by_hand: ['ownership', 'spf', 'dmarc'] } }
      const rows = guidance(domain, host).filter(row => row.name === name)
      const plan: DnsPlanner = (state, owned) =>
        planDns({
          ...{ ...state, rows, owned, accepted: new Set(), spfTerms: spfTerms(domain, host) },
          ...{ inheritedDmarc: { kind: 'none' }, returnPath: { hosts: ['in.example'], term: 'include:in.example' } },
        })
      const options = { questions: questionsOf(rows), note: 'test', replaced: 'restore' as const }
      const { stopped, items } = await applyDnsPlan(subject.provider, plan, ledger, options)
      expect([stopped, items.filter(({ status }) => status !== 'done' && status !== 'kept')]).toEqual([undefined, []])
    }
    const before = await subject.dump('zone.test')
    for (const _ of [1, 2]) {
      await apply('cname')
      expect(await listed(name)).toEqual(['CNAME in.example'])
      await apply('mx')
      expect(await listed(name)).toEqual(['MX 10 in.example', 'TXT v=spf1 include:in.example ~all'])
      expect(
        entries()
          .map(({ row }) => row)
          .toSorted(),
      ).toEqual(['return_path_mx', 'return_path_spf'])
    }
    const removal: DnsPlanner = (state, owned) => planRemoval({ ...state, owned })
    await applyDnsPlan(subject.provider, removal, ledger, { questions: [], note: 'test', replaced: 'own' })
    expect(await subject.dump('zone.test')).toEqual(before)
    expect(entries()).toEqual([])
  })

  test('all records of a domain are written, kept, and removed without a trace', async () => {
    const host = { hostname: 'mx1.zone.test', addresses: ['192.0.2.10'], spfMechanisms: [] }
    const domain: GuidanceDomain = {
      name: 'zone.test',
      verification_token: 'token',
      dkim: [{ selector: 's1', algorithm: 'rsa-sha256', public_key: 'MIIB'.repeat(98), state: 'active' }],
      dns: { address: false },
    }
    const rows = guidance(domain, host)
    const terms = spfTerms(domain, host)
    const plan: DnsPlanner = (state, owned) =>
      planDns({ ...state, rows, owned, accepted: new Set(), spfTerms: terms, inheritedDmarc: { kind: 'none' } })
    const removal: DnsPlanner = (state, owned) => planRemoval({ ...state, owned })
    const { entries, ledger } = memoryLedger()
    const options = { questions: questionsOf(rows), note: 'test', replaced: 'restore' as const }
    const before = await subject.dump('zone.test')
    const first = await applyDnsPlan(subject.provider, plan, ledger, options)
    expect(first.stopped).toBeUndefined()
    expect(first.items.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done', 'skipped'])
    expect((await listed('zone.test')).filter(line => line.includes('v=spf1'))).toEqual([
      'TXT v=spf1 include:old.example ip4:192.0.2.10 -all',
    ])
    const between = await subject.dump('zone.test')
    const second = await applyDnsPlan(subject.provider, plan, ledger, options)
    expect(second.items.map(({ status }) => status)).toEqual(['kept', 'kept', 'kept', 'kept', 'skipped'])
    expect(await subject.dump('zone.test')).toEqual(between)
    await applyDnsPlan(subject.provider, removal, ledger, { ...options, questions: [] })
    expect(await subject.dump('zone.test')).toEqual(before)
    expect(entries()).toEqual([])
  })
})

function memoryLedger() {
  let entries: OwnedRecord[] = []
  const same = (a: OwnedRecord, b: OwnedRecord) => a.row === b.row && a.value === b.value
  const ledger: Ledger = {
    read: async () => entries,
    write: async added => {
      entries = [...entries.filter(other => !added.some(entry => same(other, entry))), ...added]
    },
    forget: async gone => {
      entries = entries.filter(other => !gone.some(entry => same(other, entry)))
    },
  }
  return { ledger, entries: () => entries }
}
