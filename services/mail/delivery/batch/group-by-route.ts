/** Finds the routes of a message's recipients and groups those that share one: a group is one transaction. */
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import type { FindRoute } from '../routes.ts'
import type { Route } from '../smtp/transport.ts'
import type { LocalFailure } from './attempt-result.ts'

/** Recipients of a message that share one transaction. */
export interface Group {
  outgoing: Outgoing
  deliveries: ClaimedDelivery[]
  site: string
  route: Route
}

/** What routing came to, for some of the recipients. */
export type Routed =
  | { kind: 'group'; group: Group }
  /** There is no route: now, or at all. */
  | { kind: 'failed'; delivery: ClaimedDelivery; failure: LocalFailure }
  /** The domain turned out to be a provider's: it belongs to that site, and perhaps to another worker. */
  | { kind: 'moved'; delivery: ClaimedDelivery; site: string }
  /** Looking for a route failed in a way that says nothing about the recipients. */
  | { kind: 'unrouted'; deliveries: ClaimedDelivery[]; error: unknown }

/** Recipients of one transaction (RFC 5321 section 4.5.3.1.8 lets a server refuse more than 100). */
const RECIPIENTS = 100

/** Dependencies of {@link groupByRoute}. */
export interface GroupingOptions {
  findRoute: FindRoute
  /** In relay mode the slot does not depend on the site, so nothing moves. */
  relay: boolean
}

/** Yields a full group, a failure or a move as soon as it is known, and the other groups at the end. Never throws. */
export async function* groupByRoute(
  { findRoute, relay }: GroupingOptions,
  outgoing: Outgoing,
  deliveries: readonly ClaimedDelivery[],
): AsyncGenerator<Routed> {
  const groups = new Map<string, Group>()
  for (const [index, delivery] of deliveries.entries()) {
    const found = await findRoute(delivery.recipient).catch((error: unknown) => ({ kind: 'unrouted' as const, error }))
    if (found.kind === 'unrouted') {
      yield { ...found, deliveries: deliveries.slice(index) }
      break
    }
    if (found.kind === 'failed') yield { ...found, delivery }
    else if (!relay && found.site !== delivery.site) yield { kind: 'moved', delivery, site: found.site }
    else {
      const { site, route } = found
      const group = groups.get(route.key) ?? { outgoing, deliveries: [], site, route }
      groups.set(route.key, group)
      group.deliveries.push(delivery)
      if (group.deliveries.length < RECIPIENTS) continue
      groups.delete(route.key)
      yield { kind: 'group', group }
    }
  }
  for (const group of groups.values()) yield { kind: 'group', group }
}
