/** An address that an account sends nothing to: why, since when and for which stream. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** Why an address is suppressed. Hard bounces and complaints are added by the service itself. */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

/** One reason. */
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** Where an entry came from. */
export const SUPPRESSION_ORIGINS = ['delivery', 'report', 'unsubscribe', 'api', 'import'] as const

/** One origin. */
export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number]

/** The stream of an entry that holds for all mail of the account. */
export const ALL_STREAMS = ''

/** A stream, or one list of the bulk stream, as entries and messages name it. */
export const STREAM_NAME = /^(?:transactional|bulk(?:\/[a-z0-9][a-z0-9._-]{0,63})?)$/

/** The part of a stored suppression that decides about a message. */
export interface SuppressionState {
  email: string
  /** {@link ALL_STREAMS}, or a name that fits {@link STREAM_NAME}. */
  stream: string
  reason: SuppressionReason
  /** From this time on the address gets mail again; absent: never. */
  expires_at?: Date
  created_at: Date
}

/**
 * The form of an address under which it is stored and found: lower case, because no receiver of consequence treats local
 * parts that differ in case only as different people.
 */
export function suppressionAddress(email: string): string {
  return email.toLowerCase()
}

/** The streams whose entries hold for a message of this stream: its own, the one that it belongs to, and all. */
export function streamsAbove(stream = 'transactional'): readonly string[] {
  const [parent = ''] = stream.split('/')
  return [...new Set([ALL_STREAMS, parent, stream])]
}

/** The entry that holds for a message of this stream at this time; the widest if there are several. */
export function suppressionFor(
  entries: readonly SuppressionState[],
  stream: string | undefined,
  now: Date,
): SuppressionState | undefined {
  const inForce = entries.filter(({ expires_at: end }) => end === undefined || end > now)
  for (const name of streamsAbove(stream)) {
    const found = inForce.find(entry => entry.stream === name)
    if (found) return found
  }
  return undefined
}

const REASON_TEXTS: Readonly<Record<SuppressionReason, Sentence>> = {
  hard_bounce: sentence('suppression.hard_bounce'),
  complaint: sentence('suppression.complaint'),
  unsubscribe: sentence('suppression.unsubscribe'),
  manual: sentence('suppression.manual'),
}

/** What the delivery log says of a recipient that was left out. */
export function explainSuppression({ reason, created_at }: Pick<SuppressionState, 'reason' | 'created_at'>): Sentence {
  return sentence('delivery.suppressed', {
    reason: REASON_TEXTS[reason],
    since: created_at.toISOString().slice(0, 10),
  })
}
