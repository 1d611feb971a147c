/** Search parameters of the page of a webhook. */
import { NEWEST_FIRST, type OrderedSearch, orderedSearch } from '../../ui/layout/list-order.ts'
import { stringParams } from '../../ui/layout/search-params.ts'
import type { Delivery } from './webhook-types.ts'

/** States of a delivery. */
export const DELIVERY_STATES: readonly Delivery['state'][] = ['waiting', 'delivered', 'failed']

/** Reads the filters of an app's webhook as well, which has one for the type. */
export function appWebhookSearch(
  raw: Record<string, unknown>,
): OrderedSearch<'created_at'> & { state?: string; type?: string } {
  return { ...orderedSearch(NEWEST_FIRST)(raw), ...stringParams(raw, ['state', 'type']) }
}

/** Reads them from an address. */
export function webhookSearch(raw: Record<string, unknown>): OrderedSearch<'created_at'> & { state?: string } {
  return { ...orderedSearch(NEWEST_FIRST)(raw), ...stringParams(raw, ['state']) }
}

/** The state of an address; undefined for another text. */
export function deliveryStateOf(text: string | undefined): Delivery['state'] | undefined {
  return DELIVERY_STATES.find(state => state === text)
}
