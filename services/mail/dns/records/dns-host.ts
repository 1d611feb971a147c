/** Who runs the DNS of a domain, as its name servers show, and where its records are edited. */

/** Kinds of DNS accounts whose host is known by its name servers. */
export const HOSTED_PROVIDERS = ['cloudflare', 'aliyun', 'dnspod', 'route53', 'google', 'azure'] as const

/** A DNS host. */
export interface DnsHost {
  name: string
  /** Page of its console from which zones are reached. */
  console_url: string
  /** The kind of DNS account that writes there, where there is one. */
  provider?: (typeof HOSTED_PROVIDERS)[number]
}

/** Names of name servers by their ends or a pattern. A host whose customers have name servers of their own is not found. */
const HOSTS: readonly (DnsHost & { servers: RegExp })[] = [
  {
    name: 'Cloudflare',
    provider: 'cloudflare',
    console_url: 'https://dash.cloudflare.com/',
    servers: /\.ns\.cloudflare\.com$/,
  },
  {
    name: 'Alibaba Cloud DNS',
    provider: 'aliyun',
    console_url: 'https://dns.console.aliyun.com/',
    servers: /\.(?:hichina\.com|alidns\.com)$/,
  },
  {
    name: 'DNSPod',
    provider: 'dnspod',
    console_url: 'https://console.dnspod.cn/dns/list',
    servers: /\.(?:dnspod\.net|dnspod\.com|dnsv[1-5]\.com|iidns\.com)$/,
  },
  {
    name: 'Amazon Route 53',
    provider: 'route53',
    console_url: 'https://console.aws.amazon.com/route53/v2/hostedzones',
    servers: /\.awsdns-\d+\.(?:com|net|org|co\.uk)$/,
  },
  {
    name: 'Google Cloud DNS',
    provider: 'google',
    console_url: 'https://console.cloud.google.com/net-services/dns/zones',
    servers: /^ns-cloud-[a-e]\d\.googledomains\.com$/,
  },
  {
    name: 'Azure DNS',
    provider: 'azure',
    console_url: 'https://portal.azure.com/',
    servers: /\.azure-dns\.(?:com|net|org|info)$/,
  },
  {
    name: 'Huawei Cloud DNS',
    console_url: 'https://console.huaweicloud.com/dns/',
    servers: /\.(?:hwclouds-dns\.(?:com|net)|huaweicloud-dns\.(?:cn|com|net|org))$/,
  },
  {
    name: 'DigitalOcean',
    console_url: 'https://cloud.digitalocean.com/networking/domains',
    servers: /\.digitalocean\.com$/,
  },
  {
    name: 'Hetzner',
    console_url: 'https://dns.hetzner.com/',
    servers:
      /\.(?:ns\.hetzner\.(?:com|de)|first-ns\.de|second-ns\.(?:com|de))$|^(?:hydrogen|oxygen|helium)\.ns\.hetzner\.(?:com|de)$/,
  },
  { name: 'OVHcloud', console_url: 'https://www.ovh.com/manager/#/web/zone', servers: /\.(?:ovh\.net|anycast\.me)$/ },
  { name: 'Gandi', console_url: 'https://admin.gandi.net/domain', servers: /\.gandi\.net$/ },
  { name: 'GoDaddy', console_url: 'https://dcc.godaddy.com/control/portfolio', servers: /\.domaincontrol\.com$/ },
  { name: 'Namecheap', console_url: 'https://ap.www.namecheap.com/domains/list', servers: /\.registrar-servers\.com$/ },
  { name: 'IONOS', console_url: 'https://my.ionos.com/domains', servers: /\.ui-dns\.(?:com|de|org|biz)$/ },
  { name: 'Porkbun', console_url: 'https://porkbun.com/account/domainsSpeedy', servers: /\.porkbun\.com$/ },
  { name: 'Vercel', console_url: 'https://vercel.com/dashboard/domains', servers: /\.vercel-dns\.com$/ },
  { name: 'deSEC', console_url: 'https://desec.io/domains', servers: /\.desec\.(?:io|org)$/ },
]

/** The host that all of these name servers belong to; undefined when they are unknown, or of several hosts. */
export function dnsHostOf(nameServers: readonly string[]): DnsHost | undefined {
  const [first, ...others] = nameServers.map(server =>
    HOSTS.find(({ servers }) => servers.test(server.toLowerCase().replace(/\.$/, ''))),
  )
  if (!first || others.some(other => other !== first)) return undefined
  const { servers, ...host } = first
  return host
}
