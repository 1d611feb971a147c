import { expect, test } from 'vitest'
import { dnsHostOf } from './dns-host.ts'

test.each([
  ['Cloudflare', 'cloudflare', ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com']],
  ['Cloudflare', 'cloudflare', ['ADA.NS.cloudflare.com.']],
  ['Alibaba Cloud DNS', 'aliyun', ['dns9.hichina.com', 'dns10.hichina.com']],
  ['Alibaba Cloud DNS', 'aliyun', ['vip1.alidns.com', 'vip2.alidns.com']],
  ['DNSPod', 'dnspod', ['f1g1ns1.dnspod.net', 'f1g1ns2.dnspod.net']],
  ['DNSPod', 'dnspod', ['ns3.dnsv5.com', 'ns4.dnsv5.com']],
  [
    'Amazon Route 53',
    'route53',
    ['ns-1.awsdns-00.co.uk', 'ns-2048.awsdns-64.com', 'ns-3.awsdns-1.org', 'ns-4.awsdns-2.net'],
  ],
  ['Google Cloud DNS', 'google', ['ns-cloud-a1.googledomains.com', 'ns-cloud-a2.googledomains.com']],
  [
    'Azure DNS',
    'azure',
    ['ns1-07.azure-dns.com', 'ns2-07.azure-dns.net', 'ns3-07.azure-dns.org', 'ns4-07.azure-dns.info'],
  ],
  ['Huawei Cloud DNS', undefined, ['ns1.huaweicloud-dns.com', 'ns1.hwclouds-dns.net']],
  ['Hetzner', undefined, ['hydrogen.ns.hetzner.com', 'oxygen.ns.hetzner.com', 'helium.ns.hetzner.de']],
  ['OVHcloud', undefined, ['dns12.ovh.net', 'ns12.ovh.net']],
  ['GoDaddy', undefined, ['ns01.domaincontrol.com', 'ns02.domaincontrol.com']],
  ['IONOS', undefined, ['ns1045.ui-dns.de', 'ns1045.ui-dns.org']],
  ['deSEC', undefined, ['ns1.desec.io', 'ns2.desec.org']],
])('%s (account: %s): %j', (name, provider, servers) => {
  const host = dnsHostOf(servers)
  expect([host?.name, host?.provider]).toEqual([name, provider])
  expect(new URL(host?.console_url ?? '').protocol).toBe('https:')
})

test.each([
  ['no name servers', []],
  ['own name servers', ['ns1.example.com']],
  ['two hosts: a change of one would not be enough', ['ada.ns.cloudflare.com', 'ns1.desec.io']],
  ['a name that only contains one', ['ns.cloudflare.com.evil.example', 'xns.cloudflare.com']],
  ['a domain of a host without a server in front', ['hichina.com']],
])('%s', (_what, servers) => {
  expect(dnsHostOf(servers)).toBeUndefined()
})
