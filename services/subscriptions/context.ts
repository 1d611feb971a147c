/** What every use case of the subscription half works with, and who acts. */
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Mongo } from '../platform/mongo.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type Zone, zoneOf } from './rules/zone.ts'
import { type Collections, openCollections } from './store/collections.ts'
import type { AuditDoc } from './store/documents.ts'
import { createIds, type Ids } from './store/ids.ts'

/** What the main hands over. */
export interface SubscriptionDeps {
  mongo: Mongo
  secrets: Secrets
  clock: Clock
  log: Log
  metrics: Metrics
  config: Pick<Config, 'BUSINESS_TZ' | 'EXPIRING_SOON_DAYS' | 'SUCCESS_CODE'>
}

/** The subscription half of one process. */
export interface Subscriptions extends SubscriptionDeps {
  c: Collections
  ids: Ids
  zone: Zone
}

/** Who acts, as the audit log remembers it. */
export interface Actor {
  kind: AuditDoc['actor']['kind']
  id: string
  name: string
  requestId: string
  ip: string
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
  }
}

/** The actor of timed work. */
export const systemActor: Actor = { kind: 'system', id: '', name: 'system', requestId: '', ip: '' }
