/** The collections that delivery works on; a main calls ensureIndexes with them. */
import type { CollectionDefinition } from '../platform/database/mongo.ts'
import { domains } from './domains/store/domain-model.ts'
import { LOG_BLOCKS } from './log/store/log-blocks.ts'
import { BODIES } from './store/bodies.ts'
import { CAPTURED, CAPTURED_PIECES } from './store/captured.ts'
import { DELIVERIES } from './store/deliveries.ts'
import { EVENTS } from './store/events.ts'
import { MESSAGES } from './store/messages.ts'
import { SITES } from './store/sites.ts'
import { SLOTS, WORKERS } from './store/slots.ts'

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
  CAPTURED,
  CAPTURED_PIECES,
  domains,
]
