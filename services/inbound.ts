/** Reports about deliveries as a process of its own: bounces and complaints that other servers bring to BOUNCE_DOMAIN. */

import { domains } from './mail/domains/store/domain-model.ts'
import { startInbound } from './mail/inbound/inbound-service.ts'
import { INBOUND_MESSAGES } from './mail/inbound/store/inbound-messages.ts'
import { reportCollections } from './mail/reports/store/report-model.ts'
import { BODIES } from './mail/store/bodies.ts'
import { DELIVERIES } from './mail/store/deliveries.ts'
import { EVENTS } from './mail/store/events.ts'
import { MESSAGES } from './mail/store/messages.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { SUPPRESSIONS } from './mail/suppressions/store/suppressions.ts'
import { webhookCollections } from './mail/webhooks/store/webhook-collections.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { ConfigError } from './platform/process/config.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'
import { sentence } from './platform/sentences/sentence.ts'

/** Collections that this process reads or writes. */
const COLLECTIONS = [
  ...[INBOUND_MESSAGES, MESSAGES, DELIVERIES, BODIES, EVENTS, SUPPRESSIONS, domains],
  ...reportCollections,
  ...webhookCollections,
]

/** Serves INBOUND_LISTEN; resolves with the bound ports in its order. Throws {@link ConfigError} without BOUNCE_DOMAIN. */
export async function inbound(foundation: Foundation): Promise<Running & { ports: number[] }> {
  const { config, mongo } = foundation
  const { BOUNCE_DOMAIN: bounceDomain } = config
  if (!bounceDomain) throw new ConfigError([{ setting: 'BOUNCE_DOMAIN', reason: sentence('field.required') }])
  await ensureIndexes(mongo.db, COLLECTIONS)
  const slots = await fixSlotCount(mongo, config.SLOTS)
  return startInbound(foundation, bounceDomain, { slots })
}

if (import.meta.main) await run('inbound', process.env, inbound)
