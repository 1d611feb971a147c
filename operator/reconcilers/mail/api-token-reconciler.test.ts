/** APITokens over a real database: which scopes are limited to the domain, and which are refused. */
import { expect, test } from 'vitest'
import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import { listTokensOfResource } from '../../../services/mail/credentials/store/tokens.ts'
import { applyDomain } from '../../../services/mail/domains/declare-domain.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { APIToken } from '../../resources/api-token.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { managedBy } from '../shared/operator-context.ts'
import { apiTokenReconciler } from './api-token-reconciler.ts'

test.each<[string[], string, string[][]]>([
  [['emails:send', 'inbox:read'], 'Accepted', [['shop.example']]],
  [['templates:write', 'domains:read'], 'Accepted', [[]]],
  [['emails:send', 'templates:write'], 'InvalidSpec', []],
  [['webhooks:read', 'inbox:write'], 'InvalidSpec', []],
])('a token with the scopes %j: %s, limited to %j', async (scopes, reason, domains) => {
  const { context, clock, secrets, add } = await operatorContext()
  const { db } = context.mongo
  const account = await ensureNamespaceAccount(context, 'k8s-shop', 'shop')
  const domain = MailDomain.parse(add('MailDomain', 'shop', { domainName: 'shop.example' }))
  const deps = { db, clock, secrets: context.secrets, resource: managedBy(domain) }
  const wanted = { name: 'shop.example', suspended: false, dns: { manage: false }, dnsAccount: 'none' as const }
  await applyDomain(deps, account._id, wanted, true)
  // The schema alone does not refuse mixed scopes: the rule of the API server does.
  const resource = APIToken.parse(add('APIToken', 'ci', { domainRef: { name: 'shop' }, scopes }))
  const { conditions } = await apiTokenReconciler(context).ensure(resource)
  expect(conditions.find(({ type }) => type === 'Accepted')?.reason).toBe(reason)
  const tokens = await listTokensOfResource(db, resource.metadata.uid)
  expect(tokens.map(token => token.domains)).toEqual(domains)
  expect(secrets.has('ci-token')).toBe(domains.length > 0)
})
