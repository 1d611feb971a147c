/** DNS checks and other work on DNS on request: bounded, fair among accounts, and not repeated within seconds. */
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import type { DnsCheckDoc, DomainDoc } from '../store/domain-model.ts'
import { verifyDomain } from './verify-domain.ts'

/** The requests of one process. */
export interface RequestedChecks {
  /**
   * Checks a domain. Requests at the same moment share one check; for {@link PAUSE_MS} after it they get its result,
   * unless the domain was changed. Throws what {@link verifyDomain} throws, and `rate_limited` when too many requests of
   * the account wait.
   */
  check(domain: DomainDoc): Promise<DnsCheckDoc>
  /** Runs other work on DNS of the account under the same limits; the next check of the domain is not answered from memory. */
  change<T>(domain: DomainDoc, work: () => Promise<T>): Promise<T>
  /** Runs work at a DNS provider that is for no domain, such as a test of credentials, under the same limits. */
  run<T>(userId: string, work: () => Promise<T>): Promise<T>
}

/** Only programs in a loop ask again sooner, and resolvers cache answers for longer. Milliseconds. */
const PAUSE_MS = 5_000
/** One check asks about 15 questions, for up to 20 s. */
const LIMITS = { atOnce: 16, perKey: 4, waiting: 20 }
/** Results that are remembered. */
const MOST = 1_000

/** Makes them. */
export function createRequestedChecks(deps: DnsDeps): RequestedChecks {
  const limiter = createFairLimiter(LIMITS)
  const known = new Map<string, { until: number; check: Promise<DnsCheckDoc> }>()
  const begin = (domain: DomainDoc): Promise<DnsCheckDoc> => {
    const entry = {
      until: Number.POSITIVE_INFINITY,
      check: limiter(domain.user_id, () => verifyDomain(deps, domain._id)),
    }
    const forget = () => known.get(domain._id) === entry && known.delete(domain._id)
    entry.check.then(() => {
      entry.until = performance.now() + PAUSE_MS
    }, forget)
    known.delete(domain._id)
    known.set(domain._id, entry)
    const [oldest] = known.keys()
    if (known.size > MOST && oldest !== undefined) known.delete(oldest)
    return entry.check
  }
  // A change of settings or keys makes a domain due.
  const isDue = ({ next_check_at: due }: DomainDoc) => due !== undefined && due <= deps.clock.now()
  return {
    check(domain) {
      const last = known.get(domain._id)
      const underWay = last?.until === Number.POSITIVE_INFINITY
      const isFresh = last !== undefined && last.until > performance.now() && !isDue(domain)
      return last && (underWay || isFresh) ? last.check : begin(domain)
    },
    async change(domain, work) {
      try {
        return await limiter(domain.user_id, work)
      } finally {
        known.delete(domain._id)
      }
    },
    run: limiter,
  }
}
