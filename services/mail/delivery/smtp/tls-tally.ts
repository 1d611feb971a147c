/** Counts the TLS results of sessions for the recipient domains that they carry mail for (RFC 8460). */
import { domainToASCII } from 'node:url'
import { domainOf } from '../../message/address.ts'
import { type FailedTls, failuresOf, isPolicyDomain, type TlsResult } from '../rules/tls-results.ts'
import type { Session } from './session.ts'
import type { TlsPolicy } from './tls-policy.ts'
import type { Recipient, Route } from './transport.ts'

/** Counts a result. Called for each session, so that it must not wait. */
export type CountTls = (result: TlsResult) => void

/** What one transaction has to do with sessions. */
export interface TlsTally {
  /** A session failed because of TLS. */
  failed(failure: FailedTls): void
  /** The session carries the transaction. It counts once for each domain, however many transactions and recipients. */
  used(session: Session): void
}

/** The tally of a transaction; undefined: it is not counted. */
export function tallyOf(
  { countTls, tlsPolicy }: { countTls?: CountTls | undefined; tlsPolicy: Pick<TlsPolicy, 'clearCauseOf'> },
  { reported: policy }: Route,
  recipients: readonly Recipient[],
): TlsTally | undefined {
  if (!countTls || !policy) return undefined
  const failedHosts = new Set<string>()
  return {
    failed(failure) {
      failedHosts.add(failure.mx)
      for (const domain of policyDomainsOf(recipients)) countTls({ domain, policy, failures: [failure] })
    },
    used(session) {
      for (const domain of policyDomainsOf(recipients)) {
        if (session.countedFor.has(domain)) continue
        session.countedFor.add(domain)
        // In clear because the handshake failed a moment ago: that has been counted.
        if (!session.wire.tls && failedHosts.has(session.options.host)) continue
        countTls({ domain, policy, failures: failedBy(session) })
      }
    },
  }

  function failedBy({ options, wire }: Session): FailedTls[] {
    const { host, ip } = options
    const { tls, certificateError } = wire
    const facts = { host, tls, certificateError, clearCause: tlsPolicy.clearCauseOf(host) }
    return policy ? failuresOf(facts, policy).map(one => ({ ...one, mx: host, ip, from: wire.localAddress })) : []
  }
}

/** Domains of recipients as reports name them, each once; address literals publish no policy. */
function policyDomainsOf(recipients: readonly Recipient[]): Set<string> {
  const domains = recipients.map(({ email }) => domainOf(email).toLowerCase())
  return new Set([...new Set(domains)].map(domain => domainToASCII(domain)).filter(isPolicyDomain))
}
