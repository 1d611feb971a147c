/** Tells the sending domain which sites refuse its mail for failed authentication, and which take it again. */
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { RefusalRecorder } from '../../domains/record-refusals.ts'
import { CAPTURE_SITE, isProvider } from '../../store/rules/assign-slot.ts'
import { isSimulated } from '../../store/rules/simulation.ts'
import type { Result } from './attempt-result.ts'

/** Metrics of {@link noteAuthentication}. */
export type NoteMetrics = Pick<Metrics, 'authenticationRefusals'>

/** Called once for each result that is written. */
export function noteAuthentication(
  { delivery, message, event, next, classification }: Result,
  refusals: Pick<RefusalRecorder, 'refused' | 'delivered'>,
  metrics: NoteMetrics,
): void {
  // What was captured reached no site.
  if (event.mx === CAPTURE_SITE) return
  const { site } = delivery
  if (isSimulated(delivery.recipient)) return
  if (next.kind === 'delivered') refusals.delivered(message.domain_id, site, event.at)
  if (next.kind === 'delivered' || classification.kind !== 'authentication') return
  metrics.authenticationRefusals.inc({ site: isProvider(site) ? site : 'other' })
  const { code, enhanced, text, at } = event
  refusals.refused(message.domain_id, { site, ...(code && { code }), ...(enhanced && { enhanced }), text, last_at: at })
}
