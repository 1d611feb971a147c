/**
 * Counts TLS results for reports to recipient domains, away from the path of delivery: in memory, written every few
 * seconds. A worker that dies loses the counts of these seconds; after a write whose outcome is unknown some may be
 * counted twice. Both only shift statistics of the receiver.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { DAY_MS, utcDayOf } from '../../platform/durations.ts'
import type { FailedTls, TlsFailureCount, TlsResult } from './rules/tls-results.ts'
import { addTlsCounts, type NewTlsCounts, type PolicyCount } from './store/tls-days.ts'

/** Domains and days that wait for the next write; sessions with further ones are not counted. */
const MAX_PENDING = 20_000
/** Different failures of a policy that wait; further ones are only in the sum. */
const MAX_FAILURES = 50
/** Different policies of a domain that wait. */
const MAX_POLICIES = 5

type Policy = Omit<PolicyCount, 'failures'> & { failures: Map<string, TlsFailureCount> }
interface Pending {
  day: string
  domain: string
  policies: Map<string, Policy>
}

interface RecorderOptions {
  db: Db
  clock: Clock
  /** Domains and days that wait for a write; default: 20,000. */
  maxPending?: number
}

/** The counter of a worker. `flush` is called at intervals and rejects when the database is away. */
export class TlsResultRecorder {
  readonly #options: RecorderOptions
  #pending = new Map<string, Pending>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Counts one session. */
  count({ domain, policy, failures }: TlsResult): void {
    const counted = this.#policyOf(utcDayOf(this.#options.clock.now()), domain, policy.key, policy)
    if (!counted) return
    const ofPolicy = policy.failure === undefined ? [] : [{ type: policy.failure }]
    const all = [...ofPolicy, ...failures]
    if (all.length === 0) counted.successful++
    else counted.failed++
    for (const failure of all) addFailure(counted.failures, digestOf(failure), { ...failure, sessions: 1 })
  }

  /** Writes what came since the last time. What could not be written is kept for the next one. */
  async flush(): Promise<void> {
    const waiting = new Set(this.#pending.values())
    this.#pending = new Map()
    try {
      await addTlsCounts(this.#options.db, [...waiting], {
        onWritten(written) {
          for (const one of written) waiting.delete(one as Pending)
        },
      })
    } catch (error) {
      for (const one of waiting) this.#keep(one)
      throw error
    }
  }

  #policyOf(
    day: string,
    domain: string,
    key: string,
    { type, strings }: Pick<TlsResult['policy'], 'type' | 'strings'>,
  ) {
    const { maxPending = MAX_PENDING } = this.#options
    const id = `${day}/${domain}`
    const known = this.#pending.get(id)
    if (!known && this.#pending.size >= maxPending) return undefined
    const pending = known ?? { day, domain, policies: new Map<string, Policy>() }
    this.#pending.set(id, pending)
    const found = pending.policies.get(key)
    if (found || pending.policies.size >= MAX_POLICIES) return found
    const fresh: Policy = { type, strings: [...strings], successful: 0, failed: 0, failures: new Map() }
    pending.policies.set(key, fresh)
    return fresh
  }

  /** Joins what was not written with what came since. The report of an earlier day has been made by then. */
  #keep({ day, domain, policies }: NewTlsCounts): void {
    const { clock } = this.#options
    if (day < utcDayOf(new Date(clock.now().getTime() - DAY_MS))) return
    for (const [key, { successful, failed, failures, ...policy }] of policies) {
      const counted = this.#policyOf(day, domain, key, policy)
      if (!counted) continue
      counted.successful += successful
      counted.failed += failed
      for (const [digest, failure] of failures) addFailure(counted.failures, digest, failure)
    }
  }
}

function addFailure(failures: Map<string, TlsFailureCount>, digest: string, failure: TlsFailureCount): void {
  const known = failures.get(digest)
  if (known) known.sessions += failure.sessions
  else if (failures.size < MAX_FAILURES) failures.set(digest, failure)
}

/** Letters and digits, as a field name. */
function digestOf({ type, reason = '', mx = '', ip = '', from = '' }: Partial<FailedTls>): string {
  return `f${createHash('sha256').update([type, reason, mx, ip, from].join('\n')).digest('hex').slice(0, 20)}`
}
