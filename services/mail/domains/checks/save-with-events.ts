/** Stores the result of a check together with the event that webhooks get, so that neither is without the other. */
import type { DnsDeps } from '../../dns/dns-context.ts'
import { type MailEvent, mailWebhooksOf, queueMailEvents } from '../../webhooks/queue-mail-events.ts'
import { GRACE_MS, type NextState } from '../rules/check-schedule.ts'
import { type Saved, saveCheck } from '../store/dns-checks.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import type { DomainChange } from '../store/domains.ts'

/** Ends a transaction whose check was not saved. */
class NotSaved extends Error {
  readonly saved: Saved

  constructor(saved: Saved) {
    super(`the result of the check is ${saved}`)
    this.name = 'NotSaved'
    this.saved = saved
  }
}

/** As `saveCheck`; `next.event` is queued for webhooks in the same transaction. */
export async function saveCheckWithEvents(
  { db, clock }: DnsDeps,
  domain: DomainDoc,
  lease: Date,
  change: DomainChange,
  next: NextState,
): Promise<Saved> {
  if (!next.event) return saveCheck(db, domain, lease, change)
  const event = eventOf(domain, change, next, next.event, clock.now())
  const webhooks = mailWebhooksOf({ mongo: { db }, clock })
  try {
    await db.client.withSession(session =>
      session.withTransaction(
        async () => {
          const saved = await saveCheck(db, domain, lease, change, session)
          if (saved !== 'saved') throw new NotSaved(saved)
          await queueMailEvents(webhooks, [event], session)
        },
        { writeConcern: { w: 'majority', j: true } },
      ),
    )
    return 'saved'
  } catch (error) {
    if (error instanceof NotSaved) return error.saved
    throw error
  }
}

function eventOf(
  { _id, user_id, name, status }: DomainDoc,
  change: DomainChange,
  { failing_since, lost_at }: NextState,
  type: NonNullable<NextState['event']>,
  now: Date,
): MailEvent {
  const failing = (change.check?.records ?? []).filter(record => record.status === 'failed')
  return {
    type,
    userId: user_id,
    domainId: _id,
    at: now,
    key: `${_id}:${type}:${now.getTime()}`,
    data: {
      domain_id: _id,
      name,
      status: change.status ?? status,
      failing_records: failing.map(({ row }) => row),
      ...(failing_since && { failing_since: failing_since.toISOString() }),
      ...(lost_at && { sends_until: new Date(lost_at.getTime() + GRACE_MS).toISOString() }),
    },
  }
}
