/** Finds the route of a delivery: the relay, the captured mail, or the hosts of its domain. */
import type { Sentence } from '../../platform/sentences/sentence.ts'
import { domainOf } from '../message/address.ts'
import type { CaptureReason } from '../store/documents.ts'
import { CAPTURE_SITE, siteOf } from '../store/rules/assign-slot.ts'
import type { LocalFailure } from './batch/attempt-result.ts'
import { providerOfHosts } from './rules/mx-hosts.ts'
import type { StsPolicy } from './rules/tls-requirement.ts'
import type { Mx } from './smtp/mx.ts'
import type { TlsPolicy } from './smtp/tls-policy.ts'
import type { Route } from './smtp/transport.ts'

/** A route, with the site that its limits belong to; or why there is none. */
export type FoundRoute = { kind: 'route'; site: string; route: Route } | { kind: 'failed'; failure: LocalFailure }

/**
 * Never rejects. `tlsReport`: the message reports on TLS, so that failures of TLS must not keep it (`TLS-Required: No`,
 * RFC 8689): no policy applies, and its sessions are not counted.
 */
export type FindRoute = (rcpt: string, options?: { tlsReport?: boolean }) => Promise<FoundRoute>

/** One next hop for everything: the site of relay mode, whatever the domain. */
export function fixedRoute(site: string, host: string): FindRoute {
  const found: FoundRoute = { kind: 'route', site, route: { key: site, hosts: [host] } }
  return async () => found
}

/** DELIVERY_MODE=capture: sites as in direct mode, without a lookup. */
export const captureRoute: FindRoute = async rcpt => {
  const site = siteOf(domainOf(rcpt))
  return { kind: 'route', site, route: { key: site, hosts: ['capture.invalid'], capture: 'installation' } }
}

/** The captured mail of one message: its recipients share a transaction, whatever their domains. */
export function routeOfCaptured(capture: CaptureReason): Extract<FoundRoute, { kind: 'route' }> {
  return { kind: 'route', site: CAPTURE_SITE, route: { key: CAPTURE_SITE, hosts: ['capture.invalid'], capture } }
}

/** By MX. A domain at a large provider joins the provider's site. */
export function directRoutes({ mx, tlsPolicy }: { mx: Mx; tlsPolicy: TlsPolicy }): FindRoute {
  return async (rcpt, { tlsReport = false } = {}) => {
    const domain = domainOf(rcpt).toLowerCase()
    const [answer, policy, reported] = await Promise.all([
      mx.hostsOf(domain),
      tlsReport ? undefined : tlsPolicy.policyOf(domain),
      tlsReport ? undefined : tlsPolicy.reportedOf(domain),
    ])
    if (answer.kind === 'hosts') {
      const site = siteOf(domain)
      return {
        kind: 'route',
        site: site === domain ? (providerOfHosts(answer.hosts) ?? site) : site,
        route: { key: keyOf(answer.hosts, domain, policy ?? reported?.failure), hosts: answer.hosts, policy, reported },
      }
    }
    return { kind: 'failed', failure: failureOf(answer) }
  }
}

/**
 * A domain with a policy of its own shares no connections: they may have been opened under another one. One whose policy
 * cannot be used shares none because their results are its own.
 */
function keyOf(hosts: readonly string[], domain: string, own: StsPolicy | string | undefined): string {
  const list = hosts.toSorted().join(' ')
  return own ? `${list} for ${domain}` : list
}

function failureOf(
  answer: { kind: 'permanent'; enhanced: string; reason: Sentence } | { kind: 'temporary'; reason: Sentence },
): LocalFailure {
  return answer.kind === 'permanent'
    ? { classification: { outcome: 'bounced', kind: 'dns' }, code: 550, enhanced: answer.enhanced, text: answer.reason }
    : { classification: { outcome: 'deferred', kind: 'dns' }, enhanced: '4.4.3', text: answer.reason }
}
