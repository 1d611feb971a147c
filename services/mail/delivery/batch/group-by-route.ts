/** Finds the routes of a message's recipients and groups those that share one: a group is one transaction. */
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { CaptureReason } from '../../store/documents.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { isSimulated } from '../../store/rules/simulation.ts'
import type { FindPersonalFields, PersonalFields } from '../../streams/find-personal-fields.ts'
import type { FindTracking, TrackContent } from '../../tracking/track-content.ts'
import type { FindCapture } from '../find-capture.ts'
import type { FindReturnPath, ReturnPath } from '../return-paths.ts'
import { type FindRoute, routeOfCaptured } from '../routes.ts'
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
  findCapture: FindCapture
  findReturnPath: FindReturnPath
  findPersonalFields: FindPersonalFields
  findTracking: FindTracking
  /** In relay mode the slot does not depend on the site, so nothing moves. */
  relay: boolean
}

/**
 * Yields a full group, a failure or a move as soon as it is known, and the other groups at the end. A recipient with a
 * return path, header fields or tracked links of its own is a full group. Never throws.
 */
export async function* groupByRoute(
  options: GroupingOptions,
  outgoing: Outgoing,
  deliveries: readonly ClaimedDelivery[],
): AsyncGenerator<Routed> {
  const personal = await findTreatment(options, outgoing).catch((error: unknown) => ({ error }))
  if ('error' in personal) yield { kind: 'unrouted', deliveries: [...deliveries], error: personal.error }
  else yield* group(options, outgoing, deliveries, personal)
}

/** What of a message differs between its recipients; absent: nothing of that kind. */
interface Personal {
  returnPath: ReturnPath | undefined
  fields: PersonalFields | undefined
  track: TrackContent | undefined
}

interface Treatment extends Personal {
  /** Why the message is captured; undefined: it goes out. */
  capture: CaptureReason | undefined
}

async function findTreatment(options: GroupingOptions, outgoing: Outgoing): Promise<Treatment> {
  const [capture, returnPath, track] = await Promise.all([
    options.findCapture(outgoing.message),
    options.findReturnPath(outgoing.message),
    options.findTracking(outgoing),
  ])
  // Captured mail shows the envelope as it was submitted.
  const path = capture ? undefined : returnPath
  return { capture, returnPath: path, track, fields: options.findPersonalFields(outgoing.message) }
}

async function* group(
  { findRoute, relay }: GroupingOptions,
  outgoing: Outgoing,
  deliveries: readonly ClaimedDelivery[],
  personal: Treatment,
): AsyncGenerator<Routed> {
  const { most, contentFor } = personalContent(outgoing, personal)
  const { returnPath, capture } = personal
  const tlsReport = outgoing.message.tls_report === true
  // The simulator sends nothing either, and its answer is what its sender wants to see.
  const routeOf = async (rcpt: string) =>
    capture && !isSimulated(rcpt) ? routeOfCaptured(capture) : findRoute(rcpt, { tlsReport })
  const groups = new Map<string, Group>()
  for (const [index, delivery] of deliveries.entries()) {
    const found = await routeOf(delivery.recipient).catch((error: unknown) => ({ kind: 'unrouted' as const, error }))
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
  { returnPath, fields, track }: Personal,
): { most: number; contentFor(delivery: ClaimedDelivery): Outgoing } {
  if (!fields && !track) return { most: returnPath ? 1 : RECIPIENTS, contentFor: () => outgoing }
  const contentFor = (delivery: ClaimedDelivery) => {
    const content = track ? tracked(outgoing, track, delivery) : outgoing
    return fields ? withFields(content, fields(delivery, returnPath?.(delivery))) : content
  }
  return { most: 1, contentFor }
}

/** The message with links of its recipient. */
function tracked(outgoing: Outgoing, track: TrackContent, delivery: ClaimedDelivery): Outgoing {
  return {
    ...outgoing,
    async raw() {
      const raw = await outgoing.raw()
      return raw && track(raw, delivery)
    },
  }
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
