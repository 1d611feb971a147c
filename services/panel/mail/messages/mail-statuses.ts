/** Message statuses and their tones in lists and timelines. */
import type { Output } from '../../api/client.ts'
import type { Tone } from '../../ui/feedback/status-badge.tsx'

/** Status of a message or of one of its recipients. */
export type MailStatus = Output<'getEmail'>['status']

/** In the order in which a message passes through them. */
export const MAIL_STATUSES = [
  'scheduled',
  'queued',
  'deferred',
  'delivered',
  'bounced',
  'failed',
  'suppressed',
  'canceled',
  'complained',
] as const satisfies readonly MailStatus[]

const TONES: Record<MailStatus, Tone> = {
  scheduled: 'info',
  queued: 'info',
  deferred: 'warn',
  delivered: 'ok',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'quiet',
  canceled: 'quiet',
  complained: 'bad',
}

/** Unknown statuses of a newer service are `quiet`. */
export function toneOf(status: string): Tone {
  const known = MAIL_STATUSES.find(one => one === status)
  return known ? TONES[known] : 'quiet'
}

/** True for statuses that are not final. */
export function isInProgress(status: MailStatus): boolean {
  return ['scheduled', 'queued', 'deferred'].includes(status)
}
