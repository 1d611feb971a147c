/** What deliveries put into a message so that opens and clicks are known: addresses of each recipient (ADR 100). */
import type { Secrets } from '../../platform/security/secrets.ts'
import { TRACKING_PATH } from '../message/tracking-host.ts'
import type { ClaimedDelivery } from '../store/delivery.ts'
import type { Outgoing } from '../store/outgoing.ts'
import { UNSUBSCRIBE_PATH } from '../streams/unsubscribe-link.ts'
import type { Rewriting } from './rewriting/rewrite-message.ts'
import { trackingOf } from './rules/track-choice.ts'
import type { FindTrackedDomain } from './tracked-domains.ts'
import { clickUrl, openUrl } from './tracking-link.ts'

/** The octets of a message for one recipient. */
export type TrackContent = (raw: Buffer, delivery: Pick<ClaimedDelivery, 'id'>) => Promise<Buffer>

/** Undefined: the recipients of the message get the same octets. Rejects when the database is away. */
export type FindTracking = (outgoing: Outgoing) => Promise<TrackContent | undefined>

/** Dependencies of {@link createFindTracking}. */
export interface FindTrackingOptions {
  findDomain: FindTrackedDomain
  secrets: Pick<Secrets, 'seal'>
  /** APP_BASE_URL. */
  appUrl: string
}

/**
 * Messages of users whose domain tracks, unless they turned it off. One that is in memory is read here: without HTML to
 * change, its recipients share a transaction as without tracking.
 */
export function createFindTracking({ findDomain, secrets, appUrl }: FindTrackingOptions): FindTracking {
  return async outgoing => {
    const { domain_id, lane, track } = outgoing.message
    const domain = lane === 'system' ? undefined : await findDomain(domain_id)
    const base = domain?.base
    if (!domain || base === undefined) return undefined
    const wanted = trackingOf(domain.tracking, track)
    if (!wanted.opens && !wanted.clicks) return undefined
    const ownPrefixes = [`${appUrl}${UNSUBSCRIBE_PATH}/`, `${base}${TRACKING_PATH}/`]
    let plan: Promise<Rewriting | undefined> | undefined
    // Loaded by the first message that is tracked: the reader of HTML takes 4 MiB.
    const { planRewriting } = await import('./rewriting/rewrite-message.ts')
    const planFor = (raw: Buffer) => {
      plan ??= planRewriting(raw, { ...wanted, ownPrefixes })
      return plan
    }
    if (outgoing.inMemory) {
      const raw = await outgoing.raw()
      if (!raw || !(await planFor(raw))) return undefined
    }
    return async (raw, { id }) => {
      const rewrite = await planFor(raw)
      if (!rewrite) return raw
      return rewrite(raw, {
        link: target => clickUrl(secrets, base, id, target),
        image: () => openUrl(secrets, base, id),
      })
    }
  }
}
