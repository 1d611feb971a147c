import { expect, test } from 'vitest'
import { servesDomain } from './account-scope.ts'

const managed = (kind: string, namespace: string) => ({ managed_by: { kind, namespace, name: 'x', uid: 'u' } })
const provider = managed('DNSProvider', 'shop')
const cluster = { _id: 'dns_1', ...managed('ClusterDNSProvider', ''), shared: { domains: ['corp.test'] } }
const bound = (name: string, dns_account_id: string | undefined = 'dns_1') => ({
  name,
  ...managed('MailDomain', 'shop'),
  ...(dns_account_id === undefined ? {} : { dns_account_id }),
})

test.each<[string, Parameters<typeof servesDomain>, boolean]>([
  ['an account of a person, for a domain of a person', [{}, {}], true],
  ['an account of a person, for a domain of a namespace', [{}, managed('MailDomain', 'shop')], true],
  ['an account of a namespace, for a domain of that namespace', [provider, managed('MailDomain', 'shop')], true],
  ['an account of a namespace, for a domain of another one', [provider, managed('MailDomain', 'bank')], false],
  ['an account of a namespace, for a domain that nothing declares', [provider, {}], false],
  ['an account of a namespace, for a record of another kind', [provider, managed('App', 'shop')], false],
  ['an account of the cluster, for a domain that is bound to it', [cluster, bound('shop.corp.test')], true],
  ['an account of the cluster, for the allowed domain itself', [cluster, bound('corp.test')], true],
  ['an account of the cluster, for a domain outside', [cluster, bound('evilcorp.test')], false],
  ['an account of the cluster, for a domain that is bound to another', [cluster, bound('corp.test', 'dns_2')], false],
  [
    'an account of the cluster, for a domain that is not bound',
    [cluster, { name: 'corp.test', ...managed('MailDomain', 'a') }],
    false,
  ],
  [
    'an account of the cluster, for a domain of a person',
    [cluster, { name: 'corp.test', dns_account_id: 'dns_1' }],
    false,
  ],
  ['an account of the cluster without a scope', [{ ...cluster, shared: undefined }, bound('corp.test')], false],
])('%s', (_, [account, domain], expected) => {
  expect(servesDomain(account, domain)).toBe(expected)
})
