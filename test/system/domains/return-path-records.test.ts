/** The return path of a domain in DNS: both forms against a real authoritative server, written, changed, checked and removed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { providerOf } from '../../../services/mail/dns/dns-context.ts'
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
    { name: 'drift.test' },
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
  const served = () =>
    environment.server
      .transfer('switch.test')
      .filter(line => line.startsWith('bounce.'))
      .map(line => line.replace(/\s+/g, ' '))
      .toSorted()
  const alias = [`bounce.switch.test. 600 IN CNAME ${TO}.`]
  const both = [`bounce.switch.test. 600 IN MX 10 ${TO}.`, `bounce.switch.test. 600 IN TXT "v=spf1 include:${TO} ~all"`]

  expect(await publish()).toEqual(['return_path create done'])
  expect([served(), await isWhole()]).toEqual([alias, true])
  for (const _ of [1, 2]) {
    await choose(domain, 'mx')
    expect(await isWhole()).toBe(true)
    expect(await publish()).toEqual([
      'return_path_mx create done',
      'return_path_spf create done',
      'return_path delete done',
    ])
    expect([served(), await isWhole()]).toEqual([both, true])
    expect(await publish()).toEqual(['return_path_mx keep kept', 'return_path_spf keep kept'])
    await choose(domain, 'cname')
    expect(await isWhole()).toBe(true)
    expect(await publish()).toEqual([
      'return_path create done',
      'return_path_mx delete done',
      'return_path_spf delete done',
    ])
    expect([served(), await isWhole()]).toEqual([alias, true])
  }
  await unpublishDns(environment.deps, await environment.domain(domain._id))
  expect(environment.server.transfer('switch.test')).toEqual(before)
})

test('a record that another program removed is written again, and a new choice is published by the next check', async () => {
  const account = await environment.account('usr_drift')
  const domain = await environment.claim('usr_drift', 'drift.test', {
    dns_account_id: account._id,
    dns: { manage: true, return_path_records: 'mx' },
  })
  const check = async () => {
    const { event, records } = await verifyDomain(environment.deps, domain._id)
    return [event, ...returnPathOf(records)]
  }
  const types = () =>
    environment.server
      .transfer('drift.test')
      .filter(line => line.startsWith('bounce.'))
      .map(line => /\sIN\s+(?<type>\S+)/.exec(line)?.groups?.type)
      .toSorted()
  await publishDns(environment.deps, domain)
  expect(await check()).toEqual(['domain.verified', 'verified', 'verified'])
  const provider = providerOf(environment.deps, account)
  const zone = (await provider.findZone('drift.test')) ?? expect.fail('no zone')
  const stored = await provider.list(zone, 'bounce.drift.test')
  const mx = stored.find(({ type }) => type === 'MX') ?? expect.fail('no MX')
  await provider.remove(zone, mx)
  expect(types()).toEqual(['TXT'])
  expect(await check()).toEqual(['domain.repaired', 'failed', 'verified'])
  expect(types()).toEqual(['MX', 'TXT'])
  await updateDomain(environment.deps.db, domain._id, { dns: { manage: true, return_path_records: 'cname' } })
  // The records that are there work: mail keeps its return path while they are replaced.
  expect(await check()).toEqual(['domain.repaired', 'verified'])
  expect(types()).toEqual(['CNAME'])
  expect(await check()).toEqual([undefined, 'verified'])
})
