/** What every use case of the subscription half works with, and who acts. */
import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/database/mongo.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { createGuardedPost, type GuardedPost } from '../platform/network/guarded-fetch.ts'
import type { Log } from '../platform/observability/log.ts'
import type { Metrics } from '../platform/observability/metrics.ts'
import type { Config } from '../platform/process/config.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { createTtlCache, type TtlCache } from '../platform/ttl-cache.ts'
import type { DayFigures } from './counters/store/counters.ts'
import { createFindHolders, type FindHolders } from './lifecycle/store/users-with-subscriptions.ts'
import { type Zone, zoneOf } from './rules/time-zone.ts'
import { type Collections, openCollections } from './store/collections.ts'
import type { AdminDoc, AppDoc, AuditDoc, CounterDoc, WebhookDoc } from './store/documents.ts'
import { type Count, createCount } from './store/list-totals.ts'
import { createIds, type Ids } from './store/sequence-ids.ts'

/** What the main hands over. */
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

/** The subscription half of one process. */
export interface Subscriptions extends SubscriptionDeps {
  c: Collections
  ids: Ids
  zone: Zone
  count: Count
  findHolders: FindHolders
  /** Calls addresses that administrators chose: webhooks, and the server of a payment channel. */
  post: GuardedPost
  memory: Memory
}

/**
 * What nearly every request needs, for a second: a change made in this process shows at once, one of another process
 * a second later.
 */
export interface Memory {
  /** The administrator behind a session (by the hash of its token) or a panel account (by its id). */
  admins: TtlCache<AdminDoc>
  /** Sessions that were open when last looked up, by the hash of the token: whose rate is counted, not who may enter. */
  sessions: TtlCache<true>
  /** The live app with a key. */
  apps: TtlCache<AppDoc | undefined>
  /** The webhooks of an app. */
  webhooks: TtlCache<WebhookDoc[]>
  /** Running figures of apps, by their joined keys. Whoever moves them forgets them: `forgetFigures` of figures.ts. */
  counters: TtlCache<CounterDoc>
  /** Figures of days that are not over, likewise. */
  today: TtlCache<Map<string, DayFigures>>
  /** Totals that are counted, by what is counted and the joined keys. */
  totals: TtlCache<number>
  /** Names of the plans that apps have sold. */
  planNames: TtlCache<Map<number, string>>
  /** Figures of days that are over, which only the nightly repair moves: remembered a little longer. */
  days: TtlCache<Map<string, DayFigures>>
}

const MEMORY = { ttlMs: 1_000, refreshMs: 500, max: 10_000 } as const
/** As long as an idle session, so that somebody who asks now and then is still known. */
const SESSIONS_MEMORY = { ttlMs: 12 * HOUR_MS, max: 10_000 } as const
const DAYS_MEMORY = { ttlMs: 15_000, refreshMs: 10_000, max: 1_000 } as const

/** Who acts, as the audit log remembers it. */
export interface Actor {
  kind: AuditDoc['actor']['kind']
  id: string
  name: string
  requestId: string
  ip: string
  /** The key of an idempotent request: marked in the transaction of each change, so that a repeat knows of it. */
  claim?: Claim
}

/** A taken idempotency key, by one process at a time. */
export interface Claim {
  id: string
  startedAt: Date
}

/** What the audit log and the webhooks are told of a change. */
export interface Deed {
  action: string
  appKey: string
  target: { kind: string; id: string }
  before?: object | undefined
  after?: object | undefined
  /** For the audit log alone; webhooks do not carry it. */
  reason?: string | undefined
}

/** Opens the subscription half on the foundation of a process. */
export function openSubscriptions(deps: SubscriptionDeps): Subscriptions {
  const c = openCollections(deps.mongo.db)
  return {
    mongo: deps.mongo,
    secrets: deps.secrets,
    clock: deps.clock,
    log: deps.log,
    metrics: deps.metrics,
    config: deps.config,
    c,
    ids: createIds(c),
    zone: zoneOf(deps.config.BUSINESS_TZ),
    count: createCount(),
    findHolders: createFindHolders(c),
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

/** The actor of timed work. */
export const systemActor: Actor = { kind: 'system', id: '', name: 'system', requestId: '', ip: '' }
