/** Suppressions between the formats. Reasons of the own API that the other does not know are `manual`. */

/** A suppression as the own API shows it. */
export interface OwnSuppression {
  id: string
  email: string
  reason: string
  email_id: string | null
  created_at: string
}

const ORIGINS: Readonly<Record<string, string>> = { hard_bounce: 'bounce', complaint: 'complaint' }

/** The reason that an `origin` asks for; an unknown one is for the own schema to refuse. */
export function reasonOfOrigin(origin: unknown): unknown {
  return origin === 'bounce' ? 'hard_bounce' : origin
}

/** An entry of a list. */
export function toListedSuppression({ id, email, reason, email_id, created_at }: OwnSuppression) {
  return { id, email, origin: ORIGINS[reason] ?? 'manual', source_id: email_id, created_at }
}
