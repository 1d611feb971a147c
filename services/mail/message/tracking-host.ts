/** The host of a sending domain that its tracked links and images lead to. */

/** Longest name in DNS (RFC 1035 section 2.3.4), without its last dot. */
const NAME_OCTETS = 253
const LABEL = 'links'

/** `links.<domain>`; undefined for a domain that is too long for one. */
export function trackingHost(domain: string): string | undefined {
  const host = `${LABEL}.${domain}`
  return host.length <= NAME_OCTETS ? host : undefined
}

/**
 * The name that hosts of senders can be an alias of: the host of a URL, unless it is an address or a name without a dot,
 * which no public record can lead to.
 */
export function aliasTargetOf(url: string): string | undefined {
  const { hostname } = new URL(url)
  const isName = hostname.includes('.') && !/(?:^|\.)\d+$|^\[|\.localhost$/.test(hostname)
  return isName ? hostname : undefined
}

/** The address of links at a host. A port of the app counts where both have the same scheme. */
export function trackingBase(
  host: string,
  { APP_BASE_URL, TRACKING_SCHEME }: { APP_BASE_URL: string; TRACKING_SCHEME: 'http' | 'https' },
): string {
  const { protocol, port } = new URL(APP_BASE_URL)
  return `${TRACKING_SCHEME}://${host}${port !== '' && protocol === `${TRACKING_SCHEME}:` ? `:${port}` : ''}`
}

/** Path of tracked links and images below a host of the sender. */
export const TRACKING_PATH = '/t'
/** Answers whether a host leads to this installation. */
export const PROBE_PATH = `${TRACKING_PATH}/probe`

/**
 * What the probe answers for the host that a request names, one for each secret of the installation: only who has one knows
 * it. A proxy that passes another host on gets another answer: links would not work behind it. `macs`: of a text.
 */
export function probeAnswers(macs: (text: string) => readonly Buffer[], host: string): string[] {
  return macs(`probe ${host.toLowerCase()}`).map(mac => mac.toString('hex'))
}
