/**
 * A shared DNS account and the ledger of other accounts: what a namespace wrote with credentials of its own gives it no right to
 * replace or restore records of the company.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCredentials, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import {
  CLUSTER_OWNER,
  type DnsAccountDoc,
  deleteDnsAccount,
  insertDnsAccount,
} from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { planDomainDns, publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { unpublishDns } from '../../../services/mail/domains/publishing/unpublish-records.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { type DnsServer, startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { type DnsTestEnvironment, startDnsTestEnvironment } from '../../support/dns/dns-test-environment.ts'

const COMPANY = 'v=DMARC1; p=none; rua=mailto:dmarc@corp.test'
const PLAIN = 'v=DMARC1; p=none'
const EVIL = 'v=DMARC1; p=none; rua=mailto:all@evil.test'

let company: DnsTestEnvironment
/** Serves the same zone with credentials of the namespace. */
let own: DnsServer
let shared: DnsAccountDoc
beforeAll(async () => {
  company = await startDnsTestEnvironment([
    {
      name: 'corp.test',
      lines: [`_dmarc.a IN TXT "${COMPANY}"`, `_dmarc.b IN TXT "${PLAIN}"`],
    },
  ])
  own = await startDnsServer('knot', [{ name: 'corp.test', lines: [`_dmarc.b IN TXT "${EVIL}"`] }])
  const { deps } = company
  const sample = await company.account('usr_sample')
  shared = {
    ...sample,
    _id: 'dns_shared',
    user_id: CLUSTER_OWNER,
    by_hand: false,
    sealed: sealCredentials(deps.secrets, 'dns_shared', openCredentials(deps.secrets, sample)),
    shared: { domains: ['corp.test'], conflicts: ['fail'] },
    managed_by: { kind: 'ClusterDNSProvider', namespace: '', name: 'corp', uid: 'uid-corp' },
  }
  await insertDnsAccount(deps.db, shared)
})
afterAll(async () => {
  await own?.stop()
  await company?.stop()
})

/** A domain that the namespace published with its own account before. */
async function publishedElsewhere(label: string, conflicts: 'fail' | 'adopt'): Promise<DomainDoc> {
  const user = `usr_${label}`
  const { port, key } = own
  const account = await company.account(user, { server: `127.0.0.1:${port}`, key_secret: key.secret })
  const domain = await company.claim(user, `${label}.corp.test`, {
    dns_account_id: account._id,
    managed_by: { kind: 'MailDomain', namespace: 'team', name: label, uid: `uid-${label}` },
  })
  const { stopped } = await publishDns(company.deps, domain, { conflicts })
  expect(stopped).toBeUndefined()
  return bind(domain, shared._id)
}

async function bind({ _id }: DomainDoc, dns_account_id: string): Promise<DomainDoc> {
  await updateDomain(company.deps.db, _id, { dns_account_id })
  return company.domain(_id)
}

const dmarcOf = (server: DnsServer, label: string) =>
  server.transfer('corp.test').filter(line => line.startsWith(`_dmarc.${label}.`))

test('a record of the company stays, also when another account wrote one with its name before', async () => {
  const domain = await publishedElsewhere('a', 'fail')
  expect(domain.dns_owned).toContainEqual(expect.objectContaining({ row: 'dmarc', account_id: 'dns_usr_a' }))
  const before = dmarcOf(company.server, 'a')
  expect(before).toEqual([expect.stringContaining(COMPANY)])
  const { items } = await planDomainDns(company.deps, domain)
  expect(items.find(({ row }) => row === 'dmarc')?.action).toBe('keep')
  const published = await publishDns(company.deps, domain)
  expect(published.stopped).toBeUndefined()
  expect(dmarcOf(company.server, 'a')).toEqual(before)
})

test('a former value at another account is not restored by the shared one, also when that account is gone', async () => {
  const domain = await publishedElsewhere('b', 'adopt')
  expect(domain.dns_owned).toContainEqual(expect.objectContaining({ row: 'dmarc', value: PLAIN, before: EVIL }))
  await publishDns(company.deps, domain)
  const before = dmarcOf(company.server, 'b')
  expect(before).toEqual([expect.stringContaining(PLAIN)])
  await deleteDnsAccount(company.deps.db, 'usr_b', 'dns_usr_b')
  const { stopped } = await unpublishDns(company.deps, await bind(domain, shared._id))
  expect(stopped).toBeUndefined()
  expect(dmarcOf(company.server, 'b')).toEqual(before)
  // What the shared account itself wrote is removed.
  const left = company.server.transfer('corp.test').filter(line => line.includes('b.corp.test.'))
  expect(left).toEqual(before)
})

test('its own entries count: it repairs and removes what it wrote', async () => {
  const domain = await publishedElsewhere('d', 'fail')
  await publishDns(company.deps, domain)
  expect(dmarcOf(company.server, 'd')).toEqual([expect.stringContaining(PLAIN)])
  const stricter = await updateDomain(company.deps.db, domain._id, {
    dns: { manage: true, dmarc: { policy: 'reject', rua: [] } },
  })
  await publishDns(company.deps, stricter ?? domain)
  expect(dmarcOf(company.server, 'd')).toEqual([expect.stringContaining('p=reject')])
  await unpublishDns(company.deps, await company.domain(domain._id))
  expect(dmarcOf(company.server, 'd')).toEqual([])
})
