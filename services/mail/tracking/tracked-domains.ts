/** Which domains track, and below which address their links lie. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Config } from '../../platform/process/config.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import { TRACKING_ROW } from '../dns/records/guidance.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { findDomainById } from '../domains/store/domains.ts'
import { aliasTargetOf, trackingBase, trackingHost } from '../message/tracking-host.ts'
import type { Tracking } from './rules/track-choice.ts'

/** A domain that tracks. */
export interface TrackedDomain {
  tracking: Tracking
  /** Address of its links, without a slash at its end; undefined: its host does not serve them yet. */
  base: string | undefined
}

/** Undefined: the domain is gone or tracks nothing. Rejects when the database is away. */
export type FindTrackedDomain = (domainId: string) => Promise<TrackedDomain | undefined>

/** Dependencies of {@link createTrackedDomains}. */
export interface TrackedDomainsOptions {
  db: Db
  clock: Clock
  config: Pick<Config, 'APP_BASE_URL' | 'TRACKING_SCHEME' | 'DELIVERY_MODE'>
}

/** A change of a domain takes effect after this time at the latest, in milliseconds. */
const AGE_MS = 30_000

/** Looks domains up, at most 30 s older than the database. */
export function createTrackedDomains({ db, clock, config }: TrackedDomainsOptions): FindTrackedDomain {
  const cache = createTtlCache<TrackedDomain | undefined>({
    ...{ ttlMs: AGE_MS, max: 5_000, clock, isCacheable: () => true },
  })
  return async id => {
    if (id === '') return undefined
    return cache.get(id, async () => {
      const domain = await findDomainById(db, id)
      if (!domain?.tracking?.opens && !domain?.tracking?.clicks) return undefined
      return { tracking: domain.tracking, base: baseOf(domain, config) }
    })
  }
}

/** Captured mail goes nowhere: a developer tries its links on the same machine. */
function baseOf(domain: DomainDoc, config: TrackedDomainsOptions['config']): string | undefined {
  const { APP_BASE_URL: app, DELIVERY_MODE } = config
  if (DELIVERY_MODE === 'capture') return app
  const host = trackingHost(domain.name)
  const target = aliasTargetOf(app)
  if (host === undefined || target === undefined) return undefined
  if (host === target) return app
  const found = domain.check?.records.find(({ row }) => row === TRACKING_ROW)
  // The last check saw the alias to the present address of the app, and the host answered.
  const isServed = found?.status === 'verified' && found.observed.includes(target)
  return isServed ? trackingBase(host, config) : undefined
}
