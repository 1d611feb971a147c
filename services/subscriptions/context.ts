/** Dependencies of the use cases of the subscription module, and the actor of a change. */
import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/database/mongo.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { createGuardedPost, type GuardedPost } from '../platform/network/guarded-fetch.ts'
import type { Log } from '../platform/observability/log.ts'
import type { Metrics } from '../platform/observability/metrics.ts'
import type { Config } from '../platform/process/config.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { createTtlCache, type TtlCache } from '../platform/ttl-cache.ts'
import type { DayCounts } from './counters/store/counters.ts'
import { createFindHolders, type FindHolders } from './lifecycle/store/users-with-subscriptions.ts'
import { type Zone, zoneOf } from './rules/time-zone.ts'
import { type Collections, openCollections } from './store/collections.ts'
import type { AuditDoc, CounterDoc } from './store/documents.ts'
import { type Count, createCount } from './store/list-totals.ts'
import type { AdminDoc, AppDoc, WebhookDoc } from './store/models.ts'
import { createIds, type Ids } from './store/sequence-ids.ts'

/** Provided by the entry point. */
export interface SubscriptionDeps {
  mongo: Mongo
  secrets: Secrets
  clock: Clock
  log: Log
  metrics: Metrics
  config: Pick<
    Config,
    | 'ADMIN_BASE_URL'
    | 'BUSINESS_TZ'
    | 'EXPIRING_SOON_DAYS'
    | 'REMINDERS_PER_DAY'
    | 'SUCCESS_CODE'
    | 'WEBHOOK_ALLOW_PRIVATE'
  >
}

/** The subscription module in one process. */
export interface Subscriptions extends SubscriptionDeps {
  collections: Collections
  ids: Ids
  zone: Zone
  count: Count
  findHolders: FindHolders
  /** Posts to URLs that administrators configured: webhooks, and the server of a payment channel. */
  post: GuardedPost
  memory: Memory
}

/**
 * TTL caches for values that nearly every request needs. A change made in this process is visible immediately, one of
 * another process after a second.
 */
export interface Memory {
  /** The administrator of a session (by the hash of its token) or a panel account (by its id). */
  admins: TtlCache<AdminDoc>
  /** Open sessions, by the hash of the token. Decides only whose request rate is counted, not access. */
  sessions: TtlCache<true>
  /** The live app with a key. */
  apps: TtlCache<AppDoc | undefined>
  /** The webhooks of an app. */
  webhooks: TtlCache<WebhookDoc[]>
  /** Running counters of apps, by their joined keys. Cleared by `forgetCounters` after each change. */
  counters: TtlCache<CounterDoc>
  /** Counters of days that are not over, cleared likewise. */
  today: TtlCache<Map<string, DayCounts>>
  /** Totals by subject and joined keys. */
  totals: TtlCache<number>
  /** Names of the plans that apps have sold. */
  planNames: TtlCache<Map<number, string>>
  /** Counters of past days, which only the nightly repair changes: cached longer. */
  days: TtlCache<Map<string, DayCounts>>
}

const MEMORY = { ttlMs: 1_000, refreshMs: 500, max: 10_000 } as const
/** As long as an idle session, so that occasional requests still find it. */
const SESSIONS_MEMORY = { ttlMs: 12 * HOUR_MS, max: 10_000 } as const
const DAYS_MEMORY = { ttlMs: 15_000, refreshMs: 10_000, max: 1_000 } as const

/** The actor of a change as the audit log stores it. */
export interface Actor {
  kind: AuditDoc['actor']['kind']
  id: string
  name: string
  requestId: string
  ip: string
  /** The key of an idempotent request: marked in the transaction of each change, so that a repeat detects it. */
  claim?: Claim
}

/** An idempotency key, held by one process at a time. */
export interface Claim {
  id: string
  startedAt: Date
}

/** A change as the audit log and the webhooks record it. */
export interface AuditEvent {
  action: string
  appKey: string
  target: { kind: string; id: string }
  before?: object | undefined
  after?: object | undefined
  /** For the audit log only; not part of webhooks. */
  reason?: string | undefined
}

/** Opens the subscription module on the foundation of a process. */
export function openSubscriptions(deps: SubscriptionDeps): Subscriptions {
  const collections = openCollections(deps.mongo.db)
  return {
    mongo: deps.mongo,
    secrets: deps.secrets,
    clock: deps.clock,
    log: deps.log,
    metrics: deps.metrics,
    config: deps.config,
    collections,
    ids: createIds(collections),
    zone: zoneOf(deps.config.BUSINESS_TZ),
    count: createCount(),
    findHolders: createFindHolders(collections),
    post: createGuardedPost({ allowPrivate: deps.config.WEBHOOK_ALLOW_PRIVATE }),
    memory: {
      admins: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      sessions: createTtlCache({ ...SESSIONS_MEMORY, clock: deps.clock, isCacheable: () => true }),
      apps: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: app => app !== undefined }),
      webhooks: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      counters: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      today: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      totals: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      planNames: createTtlCache({ ...MEMORY, clock: deps.clock, isCacheable: () => true }),
      days: createTtlCache({ ...DAYS_MEMORY, clock: deps.clock, isCacheable: () => true }),
    },
  }
}

/** The actor of scheduled jobs. */
export const systemActor: Actor = { kind: 'system', id: '', name: 'system', requestId: '', ip: '' }
