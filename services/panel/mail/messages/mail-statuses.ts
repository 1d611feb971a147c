/** How the states of mail look: one tone for each, used in lists, timelines and charts alike. */
import type { Output } from '../../api/client.ts'
import type { Tone } from '../../ui/feedback/status-badge.tsx'

/** State of a message or one of its recipients. */
export type MailStatus = Output<'getEmail'>['status']

/** The states in the order in which a message goes through them. */
export const MAIL_STATUSES = [
  'scheduled',
  'queued',
  'deferred',
  'delivered',
  'bounced',
  'failed',
  'canceled',
] as const satisfies readonly MailStatus[]

const TONES: Record<MailStatus, Tone> = {
  scheduled: 'info',
  queued: 'info',
  deferred: 'warn',
  delivered: 'ok',
  bounced: 'bad',
  failed: 'bad',
  canceled: 'quiet',
}

/** The tone of a state; one that this version does not know is quiet. */
export function toneOf(status: string): Tone {
  const known = MAIL_STATUSES.find(one => one === status)
  return known ? TONES[known] : 'quiet'
}

/** True while something may still happen. */
export function isInProgress(status: MailStatus): boolean {
  return ['scheduled', 'queued', 'deferred'].includes(status)
}
