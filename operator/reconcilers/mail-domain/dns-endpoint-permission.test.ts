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
