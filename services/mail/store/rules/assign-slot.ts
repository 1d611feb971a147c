/** Which destination site and which delivery slot a recipient belongs to: the same answer in every process, without DNS. */
import { cellOf } from './cell.ts'

/** A large receiver: one site for all of its domains, spread over `parts` slots so that several workers share it. */
interface Provider {
  site: string
  parts: number
  domains: readonly string[]
}

/** Receivers with many domains on one set of servers. Everything else is a site of its own. */
const PROVIDERS: readonly Provider[] = [
  { site: 'google', parts: 8, domains: ['gmail.com', 'googlemail.com'] },
  {
    site: 'microsoft',
    parts: 8,
    domains: [
      ...['com', 'fr', 'de', 'es', 'it', 'jp', 'kr', 'cn', 'be', 'at', 'dk', 'com.br', 'com.au'].map(
        tld => `outlook.${tld}`,
      ),
      ...['com', 'co.uk', 'fr', 'de', 'it', 'es', 'be', 'nl', 'co.jp', 'com.br'].map(tld => `hotmail.${tld}`),
      ...['com', 'co.uk', 'fr', 'it', 'nl', 'be', 'cn', 'ca', 'com.au'].map(tld => `live.${tld}`),
      'msn.com',
    ],
  },
  {
    site: 'yahoo',
    parts: 4,
    domains: [
      ...['com', 'co.uk', 'fr', 'de', 'it', 'es', 'ca', 'in', 'co.in', 'com.br', 'com.mx', 'com.ar', 'com.au'].map(
        tld => `yahoo.${tld}`,
      ),
      'ymail.com',
      'rocketmail.com',
      'aol.com',
      'myyahoo.com',
    ],
  },
  { site: 'apple', parts: 4, domains: ['icloud.com', 'me.com', 'mac.com'] },
  { site: 'tencent', parts: 8, domains: ['qq.com', 'vip.qq.com', 'foxmail.com'] },
  {
    site: 'netease',
    parts: 8,
    domains: ['163.com', '126.com', 'yeah.net', '188.com', 'vip.163.com', 'vip.126.com', 'vip.188.com'],
  },
  { site: 'sina', parts: 4, domains: ['sina.com', 'sina.cn', 'vip.sina.com'] },
  { site: 'aliyun', parts: 4, domains: ['aliyun.com'] },
  { site: 'gmx', parts: 4, domains: ['gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch', 'gmx.com', 'web.de'] },
  { site: 'mailru', parts: 4, domains: ['mail.ru', 'inbox.ru', 'list.ru', 'bk.ru', 'internet.ru'] },
  { site: 'yandex', parts: 4, domains: ['yandex.ru', 'yandex.com', 'ya.ru'] },
]

const SITE_OF_DOMAIN = new Map(PROVIDERS.flatMap(({ site, domains }) => domains.map(domain => [domain, site] as const)))

/**
 * The site of captured mail in direct mode: it waits for no receiver. Spread over slots like a provider. As a domain, the
 * name is one that no public receiver has.
 */
export const CAPTURE_SITE = 'capture'

const PARTS_OF_SITE = new Map([...PROVIDERS, { site: CAPTURE_SITE, parts: 8 }].map(({ site, parts }) => [site, parts]))

/** The destination site of a recipient domain (lower case, A-label form): a provider's name, which has no dot, or the domain. */
export function siteOf(domain: string): string {
  const name = domain.toLowerCase()
  return SITE_OF_DOMAIN.get(name) ?? name
}

/** True for the site of a provider, which has domains of many owners; a site of its own has one domain. */
export function isProvider(site: string): boolean {
  return PARTS_OF_SITE.has(site)
}

/**
 * Into how many slots of each cell a site is split (k). The site's limits are divided by it. In relay mode it is the number
 * of slots of a cell. `slots`, here and below: how many a cell has.
 */
export function partsOf(site: string, slots: number, relay: boolean): number {
  return relay ? slots : Math.min(slots, PARTS_OF_SITE.get(site) ?? 1)
}

/**
 * The slot of a recipient of this message at this site, one of those of its cell. All recipients of a message at one site
 * share a slot, so that one transaction can carry them. In relay mode the site does not matter: everything has one next
 * hop.
 */
export function slotOf(site: string, messageId: string, slots: number, relay: boolean): number {
  return cellOf(messageId) * slots + slotInCell(site, messageId, slots, relay)
}

function slotInCell(site: string, messageId: string, slots: number, relay: boolean): number {
  if (relay) return hash(messageId) % slots
  const parts = partsOf(site, slots, relay)
  if (parts === 1) return hash(site) % slots
  // Parts lie side by side from the site's first slot, so that k parts are k different slots.
  return (hash(site) + (hash(messageId) % parts)) % slots
}

/** All slots that deliveries for a site may lie in, of so many cells. */
export function slotsOf(site: string, slots: number, relay: boolean, cells = 1): number[] {
  const first = relay ? 0 : hash(site)
  const parts = Array.from({ length: partsOf(site, slots, relay) }, (_, part) => (first + part) % slots)
  return Array.from({ length: cells }, (_, cell) => parts.map(slot => cell * slots + slot)).flat()
}

/** FNV-1a over UTF-16 units with the finalizer of MurmurHash3, because FNV alone spreads short names badly. */
function hash(value: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < value.length; i++) h = Math.imul(h ^ value.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
