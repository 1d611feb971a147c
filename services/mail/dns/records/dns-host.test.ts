import { expect, test } from 'vitest'
import { dnsHostOf } from './dns-host.ts'

test.each([
  ['Cloudflare', ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com']],
  ['Cloudflare', ['ADA.NS.cloudflare.com.']],
  ['Alibaba Cloud DNS', ['dns9.hichina.com', 'dns10.hichina.com']],
  ['Alibaba Cloud DNS', ['vip1.alidns.com', 'vip2.alidns.com']],
  ['DNSPod', ['f1g1ns1.dnspod.net', 'f1g1ns2.dnspod.net']],
  ['DNSPod', ['ns3.dnsv5.com', 'ns4.dnsv5.com']],
  ['Amazon Route 53', ['ns-1.awsdns-00.co.uk', 'ns-2048.awsdns-64.com', 'ns-3.awsdns-1.org', 'ns-4.awsdns-2.net']],
  ['Google Cloud DNS', ['ns-cloud-a1.googledomains.com', 'ns-cloud-a2.googledomains.com']],
  ['Azure DNS', ['ns1-07.azure-dns.com', 'ns2-07.azure-dns.net', 'ns3-07.azure-dns.org', 'ns4-07.azure-dns.info']],
  ['Huawei Cloud DNS', ['ns1.huaweicloud-dns.com', 'ns1.hwclouds-dns.net']],
  ['Hetzner', ['hydrogen.ns.hetzner.com', 'oxygen.ns.hetzner.com', 'helium.ns.hetzner.de']],
  ['OVHcloud', ['dns12.ovh.net', 'ns12.ovh.net']],
  ['GoDaddy', ['ns01.domaincontrol.com', 'ns02.domaincontrol.com']],
  ['IONOS', ['ns1045.ui-dns.de', 'ns1045.ui-dns.org']],
  ['deSEC', ['ns1.desec.io', 'ns2.desec.org']],
])('%s: %j', (name, servers) => {
  const host = dnsHostOf(servers)
  expect(host?.name).toBe(name)
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
