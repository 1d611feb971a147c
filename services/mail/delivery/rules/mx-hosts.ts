/** The hosts that receive a domain's mail, from DNS (RFC 5321 section 5.1, RFC 7505). */

/** One MX record. */
export interface MxRecord {
  exchange: string
  priority: number
}

/** The hosts to try in order; or no mail at all (null MX); or the domain itself, when it has no MX. */
export type MxPlan = { kind: 'hosts'; hosts: string[] } | { kind: 'null_mx' } | { kind: 'implicit' }

/** Most hosts tried for one attempt: more only delay the verdict. */
const MOST_HOSTS = 5

/** Orders MX records by preference, equal ones by `shuffle` (a number from 0 to 1 for each call). */
export function planMx(records: readonly MxRecord[], shuffle: () => number): MxPlan {
  if (records.length === 0) return { kind: 'implicit' }
  const named = records
    .map(({ exchange, priority }) => ({ host: exchange.toLowerCase().replace(/\.$/, ''), priority, order: shuffle() }))
    .filter(({ host }) => host !== '')
  if (named.length === 0) return { kind: 'null_mx' }
  const hosts = named.sort((a, b) => a.priority - b.priority || a.order - b.order).map(({ host }) => host)
  return { kind: 'hosts', hosts: [...new Set(hosts)].slice(0, MOST_HOSTS) }
}

/**
 * Names of the MX hosts of providers, for domains that are not the provider's own. Only hosts that receive mail: anyone
 * can point an MX record at another host of a provider, and its silence is no evidence about the provider.
 */
const PROVIDER_OF_MX: readonly (readonly [RegExp, string])[] = [
  [/^((alt\d\.)?(aspmx|gmail-smtp-in)\.l|smtp)\.google\.com$|^aspmx\d\.googlemail\.com$/, 'google'],
  [/\.mail\.protection\.outlook\.com$|\.mx\.microsoft$/, 'microsoft'],
  [/^mta\d\.am0\.yahoodns\.net$|^mx-\w+\.mail\.am0\.yahoodns\.net$/, 'yahoo'],
  [/^mx\d\d\.mail\.icloud\.com$/, 'apple'],
  [/^mx(biz)?\d?\.qq\.com$/, 'tencent'],
  [/^[a-z0-9]*mx\d\d\.(mxmail\.netease|163)\.com$/, 'netease'],
  [/^mx\.yandex\.(net|ru)$/, 'yandex'],
  [/^(emx|mxs|mx\d*)\.mail\.ru$/, 'mailru'],
]

/** The provider's site when all MX hosts of a domain are its; undefined when the domain is a site of its own. */
export function providerOfHosts(hosts: readonly string[]): string | undefined {
  const found = hosts.map(host => PROVIDER_OF_MX.find(([name]) => name.test(host))?.[1])
  return found.length > 0 && found.every(site => site !== undefined && site === found[0]) ? found[0] : undefined
}
