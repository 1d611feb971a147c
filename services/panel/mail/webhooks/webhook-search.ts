/** Search parameters of the page of a webhook. */
import { stringParams } from '../../ui/layout/search-params.ts'
import type { Delivery } from './webhook-types.ts'

/** States of a delivery. */
export const DELIVERY_STATES: readonly Delivery['state'][] = ['waiting', 'delivered', 'failed']

/** Reads them from an address. */
export function webhookSearch(raw: Record<string, unknown>): { after?: string; state?: string } {
  return stringParams(raw, ['after', 'state'])
}

/** The state of an address; undefined for another text. */
export function deliveryStateOf(text: string | undefined): Delivery['state'] | undefined {
  return DELIVERY_STATES.find(state => state === text)
}
