/** The status of a message, derived from its recipients: one word for lists, never stored. */
/** Every status of a recipient. */
export const RECIPIENT_STATUSES = [
  'queued',
  'scheduled',
  'deferred',
  'delivered',
  'bounced',
  'failed',
  'suppressed',
  'canceled',
  'complained',
] as const

/** Status of one recipient. */
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number]

/** From the one that wants attention most to the one that wants none. */
const ORDER: readonly RecipientStatus[] = [
  'deferred',
  'queued',
  'scheduled',
  'complained',
  'bounced',
  'failed',
  'suppressed',
  'canceled',
  'delivered',
]

/** Statuses after which nothing more is tried. */
const FINAL: readonly RecipientStatus[] = ['delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained']

/** A message is what its least settled recipient is; when all are final, the worst of them. */
export function messageStatus(recipients: readonly { status: RecipientStatus }[]): RecipientStatus {
  return ORDER.find(status => recipients.some(recipient => recipient.status === status)) ?? 'queued'
}

/** True when nothing more is tried for this recipient. */
export function isFinal(status: RecipientStatus): boolean {
  return FINAL.includes(status)
}
