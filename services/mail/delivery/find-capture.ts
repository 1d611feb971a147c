/** Which messages a worker captures instead of sending them (ADR 106). */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import type { Diversion } from '../domains/rules/delivery-mode.ts'
import { findDiversion } from '../domains/store/domains.ts'
import type { CaptureReason } from '../store/documents.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'

/** Why a message is captured; undefined: it goes out. Rejects when the database is away. */
export type FindCapture = (
  message: Pick<OutgoingMessage, 'capture' | 'domain_id' | 'redirected_from'>,
) => Promise<CaptureReason | undefined>

/** A change of a domain holds for attempts that begin after this time, in milliseconds. */
const AGE_MS = 1_000

/**
 * What acceptance decided stays. Any other message goes by what its domain is set to now: mail that waited while its domain
 * was set to capture or to redirect is captured, because it must not reach its recipients any more.
 */
export function createFindCapture({ db, clock }: { db: Db; clock: Clock }): FindCapture {
  const cache = createTtlCache<Diversion | undefined>({ ttlMs: AGE_MS, max: 5_000, clock, isCacheable: () => true })
  return async ({ capture, domain_id: id, redirected_from: redirected }) => {
    if (capture) return capture
    if (id === '') return undefined
    const diversion = await cache.get(id, () => findDiversion(db, id))
    if (diversion === undefined || (diversion.mode === 'redirect' && redirected)) return undefined
    return 'domain'
  }
}
