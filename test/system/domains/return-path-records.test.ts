/** The return path of a domain in DNS: both forms against a real authoritative server, written, changed, checked and removed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDomain } from '../../../services/mail/domains/checks/verify-domain.ts'
import { publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { unpublishDns } from '../../../services/mail/domains/publishing/unpublish-records.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { type DnsTestEnvironment, HOST, startDnsTestEnvironment } from '../../support/dns/dns-test-environment.ts'

const TO = 'bounces.inbound.test'
const SPF = 'bounce IN TXT "v=spf1 include:bounces.inbound.test ~all"'
const FOREIGN = 'bounce IN MX 20 mx.vendor.test.'

const CASES: Record<string, { lines: string[]; whole: boolean; cname: string[]; mx: string[] }> = {
  alias: {
    lines: [`bounce IN CNAME ${TO}.`],
    ...{ whole: true, cname: ['verified'], mx: ['verified', 'verified'] },
  },
  both: {
    lines: [`bounce IN MX 10 ${TO}.`, SPF],
    ...{ whole: true, cname: ['verified'], mx: ['verified', 'verified'] },
  },
  hosts: {
    lines: ['bounce IN MX 10 mx1.inbound.test.', `bounce IN TXT "v=spf1 a:${HOST.name} -all"`],
    ...{ whole: true, cname: ['verified'], mx: ['verified', 'verified'] },
  },
  chain: {
    lines: ['bounce IN CNAME other', `other IN CNAME ${TO}.`],
    ...{ whole: true, cname: ['verified'], mx: ['verified', 'verified'] },
  },
  nospf: {
    lines: [`bounce IN MX 10 ${TO}.`],
    ...{ whole: false, cname: ['pending'], mx: ['verified', 'pending'] },
  },
  nomx: { lines: [SPF], ...{ whole: false, cname: ['pending'], mx: ['pending', 'verified'] } },
  foreign: {
    lines: [`bounce IN MX 10 ${TO}.`, FOREIGN, SPF],
    ...{ whole: false, cname: ['pending'], mx: ['failed', 'verified'] },
  },
  elsewhere: {
    lines: ['bounce IN CNAME psrp.vendor.test.'],
    ...{ whole: false, cname: ['failed'], mx: ['failed', 'pending'] },
  },
  nothing: { lines: [], ...{ whole: false, cname: ['pending'], mx: ['pending', 'pending'] } },
}

let environment: DnsTestEnvironment
beforeAll(async () => {
  environment = await startDnsTestEnvironment([
    ...Object.entries(CASES).map(([name, { lines }]) => ({ name: `${name}.test`, lines })),
    { name: 'switch.test', lines: ['@ IN TXT "site=1"'] },
    {
      name: 'inbound.test',
      lines: [
        `bounces IN A ${HOST.ip}`,
        'bounces IN MX 10 mx1.inbound.test.',
        `bounces IN TXT "v=spf1 ip4:${HOST.ip} -all"`,
        `mx1 IN A ${HOST.ip}`,
      ],
    },
    { name: 'vendor.test', lines: ['psrp IN MX 10 mx.vendor.test.'] },
  ])
  const { config } = environment.deps
  environment.deps.config = { ...config, BOUNCE_DOMAIN: TO }
})
afterAll(() => environment?.stop())

const returnPathOf = (records: readonly { row: string; status: string }[]) =>
  records.filter(({ row }) => row.startsWith('return_path')).map(({ status }) => status)
const choose = (domain: DomainDoc, return_path_records: 'cname' | 'mx') =>
  updateDomain(environment.deps.db, domain._id, { dns: { manage: false, return_path_records } })

describe('a check', () => {
  test.each(Object.entries(CASES))('of %s', async (name, { whole, cname, mx }) => {
    const domain = await environment.claim(`usr_${name}`, `${name}.test`)
    expect(returnPathOf((await verifyDomain(environment.deps, domain._id)).records)).toEqual(cname)
    expect((await environment.domain(domain._id)).check?.return_path).toBe(whole ? TO : undefined)
    await choose(domain, 'mx')
    expect(returnPathOf((await verifyDomain(environment.deps, domain._id)).records)).toEqual(mx)
    expect((await environment.domain(domain._id)).check?.return_path).toBe(whole ? TO : undefined)
  })
})

test('the form is written, changed, changed back and removed', async () => {
  const before = environment.server.transfer('switch.test')
  const account = await environment.account('usr_switch')
  const domain = await environment.claim('usr_switch', 'switch.test', { dns_account_id: account._id })
  const publish = async () => {
    const { items, stopped } = await publishDns(environment.deps, await environment.domain(domain._id))
    expect(stopped).toBeUndefined()
    return items
      .filter(({ row }) => row.startsWith('return_path'))
      .map(({ row, action, status }) => `${row} ${action} ${status}`)
  }
  const isWhole = async () => {
    await verifyDomain(environment.deps, domain._id)
    return (await environment.domain(domain._id)).check?.return_path === TO
  }
  const dig = (type: string) => environment.server.dig('bounce.switch.test', type)

  expect(await publish()).toEqual(['return_path create done'])
  expect([dig('CNAME'), await isWhole()]).toEqual([`${TO}.`, true])
  for (const _ of [1, 2]) {
    await choose(domain, 'mx')
    expect(await isWhole()).toBe(true)
    expect(await publish()).toEqual([
      'return_path_mx create done',
      'return_path_spf create done',
      'return_path delete done',
    ])
    expect([dig('MX'), dig('TXT'), await isWhole()]).toEqual([`10 ${TO}.`, `"v=spf1 include:${TO} ~all"`, true])
    expect(await publish()).toEqual(['return_path_mx keep kept', 'return_path_spf keep kept'])
    await choose(domain, 'cname')
    expect(await isWhole()).toBe(true)
    expect(await publish()).toEqual([
      'return_path create done',
      'return_path_mx delete done',
      'return_path_spf delete done',
    ])
    expect([dig('CNAME'), await isWhole()]).toEqual([`${TO}.`, true])
  }
  await unpublishDns(environment.deps, await environment.domain(domain._id))
  expect(environment.server.transfer('switch.test')).toEqual(before)
})
