import { describe, expect, test } from 'vitest'
import { verbatim } from '../../../platform/sentences/compose.ts'
import type { RecordCheck, Views } from './evaluate-record.ts'
import { evaluateReturnPath } from './evaluate-return-path.ts'
import { type ReturnPathRecords, returnPathRows } from './guidance.ts'
import type { Answer } from './lookup.ts'
import type { EvaluationContext } from './match-record.ts'
import type { SpfEvaluation } from './spf-evaluate.ts'

const TO = 'bounces.example.net'
const host = { hostname: 'mail.example.net', addresses: ['192.0.2.10'], spfMechanisms: [], bounceDomain: TO }
const domain = { name: 'example.com', verification_token: 't', dkim: [] }
const [alias] = returnPathRows(domain, host, 'cname')
const [mx, spf] = returnPathRows(domain, host, 'mx')
if (!alias || !mx || !spf) throw new Error('no rows')
const forms = { alias, mx, spf }

const found = (...values: string[]): Answer => ({ kind: 'found', values, ttl: 300 })
const nothing: Answer = { kind: 'missing', reason: 'nodata' }
const down: Answer = { kind: 'temporary', reason: verbatim('SERVFAIL') }
const views = (...answers: Answer[]): Views => ({
  authoritative: answers.map((answer, i) => ({ server: `ns${i + 1}`, answer })),
  recursive: [],
})
const result = (is: SpfEvaluation['results'][string]): SpfEvaluation => ({
  ...{ results: { '192.0.2.10': is }, lookups: 1, voids: 0, errors: [], warnings: [], temporary: false },
})
const SPF = found(`v=spf1 include:${TO} ~all`)
const MX = found(`10 ${TO}`)

interface Seen {
  form?: ReturnPathRecords
  alias?: Answer[]
  mx?: Answer[]
  txt?: Answer[]
  spf?: SpfEvaluation
  established?: boolean
  complete?: boolean
}
function evaluate({ form = 'mx', spf: does = result('pass'), established = true, complete = true, ...seen }: Seen) {
  const context: EvaluationContext = {
    spfTerms: ['ip4:192.0.2.10'],
    established,
    returnPath: { inbound: { hosts: [TO, 'mx1.example.net'], complete }, terms: [`include:${TO}`], spf: does },
  }
  const answers = {
    alias: views(...(seen.alias ?? [nothing])),
    mx: views(...(seen.mx ?? [nothing])),
    txt: views(...(seen.txt ?? [nothing])),
  }
  return evaluateReturnPath(form, forms, answers, context)
}
const statuses = (records: readonly RecordCheck[]) => records.map(({ row, status }) => `${row} ${status}`)
const codes = (list: readonly object[]) => list.map(entry => ('code' in entry ? entry.code : entry))

describe('a return path is whole', () => {
  test.each<[string, Seen]>([
    ['with an alias', { form: 'cname', alias: [found(TO)] }],
    ['with MX and SPF', { mx: [MX], txt: [SPF] }],
    ['with several hosts of ours', { mx: [found('10 mx1.example.net', `20 ${TO}`)], txt: [SPF] }],
    ['with addresses in the SPF record', { mx: [MX], txt: [found('v=spf1 ip4:192.0.2.0/24 -all')] }],
    ['with other texts at the name', { mx: [MX], txt: [found('site=1', 'v=spf1 a:mail.example.net -all')] }],
    ['with MX and SPF where an alias was chosen', { form: 'cname', mx: [MX], txt: [SPF] }],
    ['with an alias where MX and SPF were chosen', { alias: [found(TO)] }],
    [
      'with an alias of an alias, which answers like BOUNCE_DOMAIN',
      { form: 'cname', alias: [found('b.example.org')], mx: [MX], txt: [found('v=spf1 ip4:192.0.2.10 -all')] },
    ],
    ['with our terms, when no address is known', { mx: [MX], txt: [SPF], spf: { ...result('pass'), results: {} } }],
  ])('%s', (_, seen) => {
    const { whole, records } = evaluate(seen)
    expect(whole).toBe(true)
    expect(records.map(({ status, errors, instructions }) => [status, errors, instructions])).toEqual(
      records.map(() => ['verified', [], []]),
    )
    expect(records.map(({ row }) => row)).toEqual(
      seen.form === 'cname' ? ['return_path'] : ['return_path_mx', 'return_path_spf'],
    )
    expect(records.every(({ observed }) => observed.length > 0)).toBe(true)
  })
})

describe('a return path is not whole, and the check says why', () => {
  test.each<[string, Seen, string[], string[][]]>([
    [
      'nothing',
      {},
      ['return_path_mx failed', 'return_path_spf failed'],
      [['dns.address_missing'], ['dns.spf_missing']],
    ],
    [
      'nothing of a new domain',
      { established: false },
      ['return_path_mx pending', 'return_path_spf pending'],
      [['dns.address_missing'], ['dns.spf_missing']],
    ],
    ['MX without SPF', { mx: [MX] }, ['return_path_mx verified', 'return_path_spf failed'], [[], ['dns.spf_missing']]],
    [
      'SPF without MX',
      { txt: [SPF] },
      ['return_path_mx failed', 'return_path_spf verified'],
      [['dns.address_missing'], []],
    ],
    [
      'an MX of another host beside ours',
      { mx: [found(`10 ${TO}`, '20 mx.vendor.example')], txt: [SPF] },
      ['return_path_mx failed', 'return_path_spf verified'],
      [['dns.return_path_mx_beside'], []],
    ],
    [
      'a null MX',
      { mx: [found('0 ')], txt: [SPF] },
      ['return_path_mx failed', 'return_path_spf verified'],
      [['dns.return_path_mx_other'], []],
    ],
    [
      'an SPF record of another service',
      { mx: [MX], txt: [found('v=spf1 include:vendor.example -all')], spf: result('fail') },
      ['return_path_mx verified', 'return_path_spf failed'],
      [[], ['dns.spf_without_us']],
    ],
    [
      'an SPF record that refuses our address first',
      { mx: [MX], txt: [found(`v=spf1 -ip4:192.0.2.10 include:${TO} -all`)], spf: result('fail') },
      ['return_path_mx verified', 'return_path_spf failed'],
      [[], ['dns.spf_shadowed']],
    ],
    [
      'two SPF records',
      { mx: [MX], txt: [found('v=spf1 -all', 'v=spf1 ~all')] },
      ['return_path_mx verified', 'return_path_spf conflict'],
      [[], ['dns.spf_several']],
    ],
    [
      'an alias of another service',
      { alias: [found('psrp.vendor.example')], mx: [found('10 mx.vendor.example')] },
      ['return_path_mx failed', 'return_path_spf failed'],
      [['dns.return_path_alias'], ['dns.return_path_alias']],
    ],
    [
      'an alias of another service where an alias was chosen',
      { form: 'cname', alias: [found('psrp.vendor.example')], mx: [found('10 mx.vendor.example')] },
      ['return_path failed'],
      [['dns.address_other']],
    ],
    [
      'MX without SPF where an alias was chosen',
      { form: 'cname', mx: [MX] },
      ['return_path failed'],
      [['dns.address_missing', 'dns.spf_missing']],
    ],
    [
      'an unknown host while our hosts are not known',
      { mx: [found('10 mx2.example.net')], txt: [SPF], complete: false },
      ['return_path_mx temporary_failure', 'return_path_spf verified'],
      [['dns.return_path_hosts_unknown'], []],
    ],
    [
      'a server without the MX',
      { mx: [MX, nothing], txt: [SPF, SPF] },
      ['return_path_mx pending', 'return_path_spf verified'],
      [[], []],
    ],
    [
      'servers that do not answer',
      { form: 'cname', alias: [down], mx: [down], txt: [down] },
      ['return_path temporary_failure'],
      [[]],
    ],
  ])('%s', (_, seen, expected, errors) => {
    const { whole, records } = evaluate(seen)
    expect(whole).toBe(false)
    expect(statuses(records)).toEqual(expected)
    expect(records.map(record => codes(record.errors))).toEqual(errors)
    for (const { status, instructions } of records)
      expect(instructions.length > 0, 'says what to do').toBe(status !== 'verified')
  })

  test('a foreign alias is to be removed first, other records before an alias is added', () => {
    const steps = (seen: Seen) => evaluate(seen).records.map(({ instructions }) => codes(instructions))
    expect(steps({ alias: [found('psrp.vendor.example')] })).toEqual([
      ['dns.return_path_remove_alias', 'dns.add_record'],
      ['dns.return_path_remove_alias', 'dns.add_record'],
    ])
    expect(steps({ form: 'cname', txt: [SPF] })).toEqual([['dns.add_record', 'dns.return_path_in_use']])
    expect(steps({ mx: [found(`10 ${TO}`, '20 mx.vendor.example')], txt: [SPF] })[0]).toEqual([
      'dns.return_path_remove_mx',
    ])
  })
})
