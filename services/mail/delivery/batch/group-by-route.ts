/** Finds the routes of a message's recipients and groups those that share one: a group is one transaction. */
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import type { FindPersonalFields, PersonalFields } from '../../streams/find-personal-fields.ts'
import type { FindReturnPath, ReturnPath } from '../return-paths.ts'
import type { FindRoute } from '../routes.ts'
import type { Route } from '../smtp/transport.ts'
import type { LocalFailure } from './attempt-result.ts'

/** Recipients of a message that share one transaction. */
export interface Group {
  outgoing: Outgoing
  deliveries: ClaimedDelivery[]
  site: string
  route: Route
  /** Makes the envelope sender of the only recipient; absent: the envelope sender is the submitted one. */
  returnPath?: ReturnPath | undefined
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
  findReturnPath: FindReturnPath
  findPersonalFields: FindPersonalFields
  /** In relay mode the slot does not depend on the site, so nothing moves. */
  relay: boolean
}

/**
 * Yields a full group, a failure or a move as soon as it is known, and the other groups at the end. A recipient with a
 * return path or header fields of its own is a full group. Never throws.
 */
export async function* groupByRoute(
  options: GroupingOptions,
  outgoing: Outgoing,
  deliveries: readonly ClaimedDelivery[],
): AsyncGenerator<Routed> {
  const sender = await options.findReturnPath(outgoing.message).then(
    returnPath => ({ returnPath }),
    (error: unknown) => ({ error }),
  )
  if ('error' in sender) yield { kind: 'unrouted', deliveries: [...deliveries], error: sender.error }
  else yield* group(options, outgoing, deliveries, sender.returnPath)
}

async function* group(
  { findRoute, findPersonalFields, relay }: GroupingOptions,
  outgoing: Outgoing,
  deliveries: readonly ClaimedDelivery[],
  returnPath: ReturnPath | undefined,
): AsyncGenerator<Routed> {
  const { most, contentFor } = personalContent(outgoing, findPersonalFields(outgoing.message), returnPath)
  const tlsReport = outgoing.message.tls_report === true
  const groups = new Map<string, Group>()
  for (const [index, delivery] of deliveries.entries()) {
    const found = await findRoute(delivery.recipient, { tlsReport }).catch((error: unknown) => ({
      kind: 'unrouted' as const,
      error,
    }))
    if (found.kind === 'unrouted') {
      yield { ...found, deliveries: deliveries.slice(index) }
      break
    }
    if (found.kind === 'failed') yield { ...found, delivery }
    else if (!relay && found.site !== delivery.site) yield { kind: 'moved', delivery, site: found.site }
    else {
      const { site, route } = found
      const open = groups.get(route.key) ?? { outgoing: contentFor(delivery), deliveries: [], site, route, returnPath }
      groups.set(route.key, open)
      open.deliveries.push(delivery)
      if (open.deliveries.length < most) continue
      groups.delete(route.key)
      yield { kind: 'group', group: open }
    }
  }
  for (const open of groups.values()) yield { kind: 'group', group: open }
}

/** The message for each recipient, and how many may share a transaction. */
function personalContent(
  outgoing: Outgoing,
  fields: PersonalFields | undefined,
  returnPath: ReturnPath | undefined,
): { most: number; contentFor(delivery: ClaimedDelivery): Outgoing } {
  if (!fields) return { most: returnPath ? 1 : RECIPIENTS, contentFor: () => outgoing }
  return { most: 1, contentFor: delivery => withFields(outgoing, fields(delivery, returnPath?.(delivery))) }
}

/** The message with header fields before its own. */
function withFields(outgoing: Outgoing, fields: string): Outgoing {
  if (fields === '') return outgoing
  return {
    ...outgoing,
    async raw() {
      const raw = await outgoing.raw()
      return raw && Buffer.concat([Buffer.from(fields, 'latin1'), raw])
    },
  }
}
