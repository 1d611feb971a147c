import { describe, expect, test } from 'vitest'
import { guidance, type ReturnPathRecords } from '../records/guidance.ts'
import type { StoredRecord } from '../records/record.ts'
import { outdatedRows, planDns } from './dns-plan.ts'
import type { OwnedRecord, PlanInput } from './plan-item.ts'

const NAME = 'bounce.example.com'
const TO = 'bounces.example.net'
const host = { hostname: 'mail.example.net', addresses: ['192.0.2.10'], spfMechanisms: [], bounceDomain: TO }
const zone = { id: 'z1', name: 'example.com', minTtl: 60, maxTxt: 512 }

const record = (type: string, value: string, more: Partial<StoredRecord> = {}): StoredRecord => ({
  ...{ id: `${type}/${value}`, name: NAME, type, value, ttl: 300 },
  ...more,
})
const own = (row: string, { name, type, value, id }: StoredRecord): OwnedRecord => ({
  ...{ row, name, value, record_id: id },
  type: type as OwnedRecord['type'],
})
const alias = record('CNAME', TO)
const mx = record('MX', `10 ${TO}`)
const spf = record('TXT', `v=spf1 include:${TO} ~all`)
const foreignMx = record('MX', '10 mx.vendor.example')
const foreignSpf = record('TXT', 'v=spf1 include:vendor.example ~all')
const foreignAlias = record('CNAME', 'psrp.vendor.example')
const ownAlias = own('return_path', alias)
const ownMx = own('return_path_mx', mx)
const ownSpf = own('return_path_spf', spf)

interface Case {
  form?: ReturnPathRecords
  here?: StoredRecord[]
  owned?: OwnedRecord[]
  accepted?: string[]
  byHand?: string[]
}
function inputOf({ form = 'mx', here = [], owned = [], accepted = [], byHand = [] }: Case): PlanInput {
  const dns = { return_path_records: form, by_hand: byHand }
  const domain = { name: 'example.com', verification_token: 't', dkim: [], dns }
  return {
    rows: guidance(domain, host).filter(({ name }) => name === NAME),
    zoneOf: () => zone,
    current: name => here.filter(stored => stored.name === name),
    ...{ owned, accepted: new Set(accepted), spfTerms: ['ip4:192.0.2.10'], inheritedDmarc: { kind: 'none' } },
    returnPath: { hosts: [TO, 'mx1.example.net'], term: `include:${TO}` },
  }
}
/** `row action`, with the value before for changes and the code of conflicts. */
const plan = (given: Case) =>
  planDns(inputOf(given)).map(({ row, action, before, code, acceptable, frees }) =>
    [row, action, action === 'update' ? before?.value : '', code, acceptable && 'acceptable', frees && 'first']
      .filter(Boolean)
      .join(' '),
  )

describe('the records of a return path', () => {
  test.each<[string, Case, string[]]>([
    ['a free name', {}, ['return_path_mx create', 'return_path_spf create']],
    ['what is there', { here: [mx, spf] }, ['return_path_mx keep', 'return_path_spf keep']],
    [
      'another host of ours, addresses in the SPF record',
      { here: [record('MX', '5 MX1.example.net.'), record('TXT', 'v=spf1 ip4:192.0.2.10 -all')] },
      ['return_path_mx keep', 'return_path_spf keep'],
    ],
    [
      'other texts at the name',
      { here: [record('TXT', 'site=1')] },
      ['return_path_mx create', 'return_path_spf create'],
    ],
    [
      'an MX of another host beside ours',
      { here: [mx, foreignMx, spf], accepted: ['return_path_mx'] },
      ['return_path_mx conflict several_records', 'return_path_spf keep'],
    ],
    [
      'the records of another service',
      { here: [foreignMx, foreignSpf] },
      ['return_path_mx conflict foreign_value acceptable', 'return_path_spf conflict foreign_value acceptable'],
    ],
    [
      'the records of another service, accepted',
      { here: [foreignMx, foreignSpf], accepted: ['return_path_mx', 'return_path_spf'] },
      [`return_path_mx update ${foreignMx.value}`, `return_path_spf update ${foreignSpf.value}`],
    ],
    [
      'a null MX and two SPF records',
      { here: [record('MX', '0 '), spf, foreignSpf] },
      ['return_path_mx conflict foreign_value acceptable', 'return_path_spf conflict several_records'],
    ],
    [
      'an SPF record that cannot be read',
      { here: [mx, record('TXT', 'v=spf1 include:')] },
      ['return_path_mx keep', 'return_path_spf conflict foreign_value acceptable'],
    ],
    [
      'our records for a former BOUNCE_DOMAIN',
      {
        here: [record('MX', '10 old.example.net'), record('TXT', 'v=spf1 include:old.example.net ~all')],
        owned: [
          own('return_path_mx', record('MX', '10 old.example.net')),
          own('return_path_spf', record('TXT', 'v=spf1 include:old.example.net ~all')),
        ],
      },
      ['return_path_mx update 10 old.example.net', 'return_path_spf update v=spf1 include:old.example.net ~all'],
    ],
    [
      'an alias of another service, even accepted',
      { here: [foreignAlias], accepted: ['return_path_mx', 'return_path_spf'] },
      ['return_path_mx conflict cname_in_the_way', 'return_path_spf conflict cname_in_the_way'],
    ],
    ["the owner's alias that leads here", { here: [alias] }, ['return_path_mx keep', 'return_path_spf keep']],
    [
      'our alias: it makes room',
      { here: [alias], owned: [ownAlias] },
      ['return_path_mx create', 'return_path_spf create', 'return_path delete first'],
    ],
    [
      'our alias of a domain whose owner keeps the records',
      { here: [alias], owned: [ownAlias], byHand: ['return_path'] },
      [],
    ],
    [
      'an alias where our MX and SPF records are',
      { form: 'cname', here: [mx, spf], owned: [ownMx, ownSpf] },
      ['return_path create', 'return_path_mx delete first', 'return_path_spf delete first'],
    ],
    ["an alias where the owner's records work", { form: 'cname', here: [mx, spf] }, ['return_path keep']],
    ['an alias where one of them is missing', { form: 'cname', here: [mx] }, ['return_path conflict foreign_value']],
    [
      "an alias where one of them is another service's",
      { form: 'cname', here: [mx, foreignMx, spf], accepted: ['return_path'] },
      ['return_path conflict foreign_value'],
    ],
    [
      'an alias beside a text of the owner: our records stay',
      { form: 'cname', here: [mx, spf, record('TXT', 'site=1')], owned: [ownMx, ownSpf] },
      ['return_path conflict foreign_value'],
    ],
  ])('%s', (_, given, expected) => expect(plan(given)).toEqual(expected))

  test.each<[string, Case, string[]]>([
    ['the form changed', { owned: [ownAlias] }, ['return_path']],
    ['the form is the same', { owned: [ownMx, ownSpf] }, []],
    ['the form changed and the owner keeps the records', { owned: [ownAlias], byHand: ['return_path'] }, []],
  ])('are outdated or not: %s', (_, given, expected) => {
    const { rows, owned } = inputOf(given)
    expect([...outdatedRows(rows, owned)]).toEqual(expected)
  })

  test('of an installation without return paths are removed', () => {
    const { returnPath: _, ...rest } = inputOf({ here: [mx, spf], owned: [ownMx, ownSpf] })
    expect(planDns({ ...rest, rows: [] }).map(({ row, action }) => `${row} ${action}`)).toEqual([
      'return_path_mx delete',
      'return_path_spf delete',
    ])
  })
})
