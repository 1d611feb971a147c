/** The timed work on DNS: a job that checks whatever is due, many at a time. */
import { createFairClaims } from '../../../platform/concurrency/fair-claims.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import { checkDue, claimNextDue, type DueDomain } from './verify-domain.ts'

const JOB = 'dns-checks'
/** Interval of the search for due domains. */
const EVERY_MS = 15_000
/** Checks at a time in one process: they wait for the network most of the time. */
const PARALLEL = 16
/** An account with so many of them lets others go first. */
const PER_ACCOUNT = 4

/** Defines the job and makes sure that it exists. Call it before `jobs.start()`. */
export async function registerDnsJobs(jobs: Jobs, deps: DnsDeps): Promise<void> {
  jobs.define(JOB, { concurrency: 1, lockLifetimeMs: 120_000 }, async run => {
    await checkDueDomains(deps, run)
  })
  await jobs.seed(JOB, 'all', { everyMs: EVERY_MS })
}

/** Checks until nothing is due or the process drains. Rejects when the database fails: the job is repeated. */
export async function checkDueDomains(
  deps: DnsDeps,
  { signal, touch }: { signal: AbortSignal; touch: () => Promise<void> },
): Promise<number> {
  let checked = 0
  const next = createFairClaims<DueDomain>({
    claim: except => claimNextDue(deps, except),
    keyOf: ({ domain }) => domain.user_id,
    perKey: PER_ACCOUNT,
  })
  const runner = async () => {
    while (!signal.aborted) {
      if (!(await next(due => checkDue(deps, due)))) return
      if (++checked % 100 === 0) await touch()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runner))
  return checked
}
