import { expect, test } from 'vitest'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { endpointRefusal } from './dns-endpoint-permission.ts'

test.each<[string, string, string, string | undefined]>([
  ['', '', 'news.shop.example', 'NamespaceNotAllowed'],
  ['', '*', 'news.shop.example', 'NamespaceNotAllowed'],
  ['shop2, sho', '*', 'news.shop.example', 'NamespaceNotAllowed'],
  ['*', '', 'news.shop.example', 'DomainNotAllowed'],
  ['shop', 'other.example', 'news.shop.example', 'DomainNotAllowed'],
  // Neither a name that ends with the same letters, nor one above.
  ['shop', 'op.example', 'shop.example', 'DomainNotAllowed'],
  ['shop', 'news.shop.example', 'shop.example', 'DomainNotAllowed'],
  ['team, shop', 'shop.example', 'news.shop.example', undefined],
  ['team shop', 'other.example SHOP.example.', 'shop.example', undefined],
  ['*', '*', 'shop.example', undefined],
])(
  'namespaces "%s" and domains "%s" in the settings, for %s in shop: %s',
  async (namespaces, domains, name, reason) => {
    const { context, add } = await operatorContext({
      DNS_ENDPOINT_NAMESPACES: namespaces,
      DNS_ENDPOINT_DOMAINS: domains,
    })
    const resource = MailDomain.parse(add('MailDomain', 'shop', { domainName: name }))
    const refusal = endpointRefusal(context.config, resource)
    expect(refusal?.reason).toBe(reason)
    const setting = { NamespaceNotAllowed: 'DNS_ENDPOINT_NAMESPACES', DomainNotAllowed: 'DNS_ENDPOINT_DOMAINS' }[
      `${reason}`
    ]
    if (setting) expect(refusal?.message).toContain(setting)
  },
)

test.each<['labels' | 'annotations', string, string[], string[]]>([
  ['labels', 'of the cluster', ['dns', 'team.example/dns', 'app.kubernetes.io/part-of'], []],
  ['annotations', 'of the cluster', ['team', 'postwright.example/team', 'kubernetes.io/description'], []],
  ['annotations', 'for the external-dns that reads it', ['external-dns.alpha.kubernetes.io/controller'], []],
  ['labels', 'for the external-dns that reads it', ['external-dns.alpha.kubernetes.io/controller'], []],
  ['labels', 'of the operator', ['postwright.dev/maildomain'], ['postwright.dev/maildomain']],
  ['annotations', 'of the operator', ['team', 'postwright.dev/domain'], ['postwright.dev/domain']],
  [
    'annotations',
    'that external-dns obeys',
    [
      'external-dns.alpha.kubernetes.io/target',
      'external-dns.alpha.kubernetes.io/controller',
      'external-dns.alpha.kubernetes.io/controller-name',
      'external-dns.alpha.kubernetes.io/aws-weight',
    ],
    [
      'external-dns.alpha.kubernetes.io/target',
      'external-dns.alpha.kubernetes.io/controller-name',
      'external-dns.alpha.kubernetes.io/aws-weight',
    ],
  ],
  ['labels', 'that external-dns obeys', ['external-dns.alpha.kubernetes.io/'], ['external-dns.alpha.kubernetes.io/']],
])('%s %s on the object: %j, of which are refused %j', async (field, _, keys, refused) => {
  const { context, add } = await operatorContext({ DNS_ENDPOINT_NAMESPACES: 'shop', DNS_ENDPOINT_DOMAINS: '*' })
  const dnsEndpoint = { [field]: Object.fromEntries(keys.map(key => [key, 'x'])) }
  const dns = { managementPolicy: 'DNSEndpoint', dnsEndpoint }
  const refusal = endpointRefusal(
    context.config,
    MailDomain.parse(add('MailDomain', 'shop', { domainName: 'shop.example', dns })),
  )
  expect(refusal?.reason).toBe(refused.length > 0 ? 'MetadataNotAllowed' : undefined)
  expect(refusal?.sentence?.params ?? { field, keys: [] }).toEqual({ field, keys: refused })
  if (refusal) expect(refusal.message).toContain(`spec.dns.dnsEndpoint.${field} may not have ${refused[0]}`)
})
