import { expect, test } from 'vitest'
import { servesDomain } from './account-scope.ts'

const managed = (kind: string, namespace: string) => ({ managed_by: { kind, namespace, name: 'x', uid: 'u' } })
const provider = managed('DNSProvider', 'shop')

test.each<[string, Parameters<typeof servesDomain>, boolean]>([
  ['an account of a person, for a domain of a person', [{}, {}], true],
  ['an account of a person, for a domain of a namespace', [{}, managed('MailDomain', 'shop')], true],
  ['an account of a namespace, for a domain of that namespace', [provider, managed('MailDomain', 'shop')], true],
  ['an account of a namespace, for a domain of another one', [provider, managed('MailDomain', 'bank')], false],
  ['an account of a namespace, for a domain that nothing declares', [provider, {}], false],
  ['an account of a namespace, for a record of another kind', [provider, managed('App', 'shop')], false],
])('%s', (_, [account, domain], expected) => {
  expect(servesDomain(account, domain)).toBe(expected)
})
