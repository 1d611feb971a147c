/** The delivery queue: one small document per recipient that is not final yet. */
import { defineCollection } from '../../platform/mongo.ts'
import type { DeliveryDoc } from './documents.ts'

/**
 * One index besides `_id`: every index is written on insert, claim and removal. Deliveries of a message are a range
 * of `_id` (`<message>.<n>`).
 */
export const DELIVERIES = defineCollection<DeliveryDoc>('deliveries', [{ key: { slot: 1, lane: 1, due: 1 } }])
