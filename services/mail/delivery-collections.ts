/** The collections that delivery works on; a main calls ensureIndexes with them. */
import type { CollectionDefinition } from '../platform/database/mongo.ts'
import { holds } from './delivery/control/store/holds.ts'
import { QUEUE_CONTROL, queueActions } from './delivery/control/store/queue-actions.ts'
import { stsPolicies } from './delivery/store/sts-policies.ts'
import { TLS_DAYS } from './delivery/store/tls-days.ts'
import { domains } from './domains/store/domain-model.ts'
import { RATES } from './limits/store/rate-leases.ts'
import { sendingLimits } from './limits/store/sending-limits.ts'
import { LOG_BLOCKS } from './log/store/log-blocks.ts'
import { BODIES } from './store/bodies.ts'
import { CAPTURED, CAPTURED_PIECES } from './store/captured.ts'
import { INBOXES } from './store/captured-inboxes.ts'
import { DELIVERIES } from './store/deliveries.ts'
import { EVENTS } from './store/events.ts'
import { MESSAGES } from './store/messages.ts'
import { SITES } from './store/sites.ts'
import { SLOTS, WORKERS } from './store/slots.ts'
import { SUPPRESSIONS } from './suppressions/store/suppressions.ts'
import { webhookCollections } from './webhooks/store/webhook-collections.ts'

/** All of them. */
export const deliveryCollections: readonly CollectionDefinition<object>[] = [
  BODIES,
  MESSAGES,
  DELIVERIES,
  EVENTS,
  LOG_BLOCKS,
  SLOTS,
  WORKERS,
  SITES,
  SUPPRESSIONS,
  CAPTURED,
  CAPTURED_PIECES,
  INBOXES,
  RATES,
  holds,
  queueActions,
  QUEUE_CONTROL,
  sendingLimits,
  domains,
  ...webhookCollections,
  stsPolicies,
  TLS_DAYS,
]
