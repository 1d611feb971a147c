/** What writing the DNS records of a MailDomain adds to the outcome of its run. */
import type { Published } from '../../../services/mail/domains/publishing/publish-records.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { pauseAfter } from '../mail/dns-provider-access.ts'
import { type ConditionState, toSeconds } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import type { DnsSync } from './dns-synced-condition.ts'

/** What the DNS records add to the outcome of a run. */
export interface DnsOutcome {
  conditions: ConditionState[]
  status: object
  events: EventInput[]
  requeueAfterMs?: number
}

/** The next attempt after a pause that doubles with each failure; the status shows its time. */
export function retryLater(
  context: OperatorContext,
  revision: string | undefined,
  failures: number,
  condition: ConditionState,
  { longestMs = Number.POSITIVE_INFINITY, retryAfter }: NonNullable<DnsSync['retry']>,
): DnsOutcome {
  const pauseMs = Math.min(longestMs, pauseAfter(failures + 1, retryAfter))
  const at = new Date(context.clock.now().getTime() + pauseMs)
  return {
    conditions: [condition],
    status: {
      ...(revision === undefined ? {} : { dnsRevision: revision }),
      failedAttempts: failures + 1,
      nextAttemptTime: toSeconds(at),
    },
    events: [],
    requeueAfterMs: pauseMs,
  }
}

/** One event that names the records that were written. */
export function writtenEvents({ items }: Published): EventInput[] {
  const written = items.filter(item => item.status === 'done').map(({ name, type }) => `${name} ${type}`)
  if (written.length === 0) return []
  return [{ type: 'Normal', reason: 'DNSWritten', action: 'PublishDNS', note: `Written: ${written.join(', ')}.` }]
}
