/** What the attempts of a webhook mean for the webhook: it pauses while they fail, and is disabled after days of it. */
import type { Clock } from '../clock.ts'
import type { Log } from '../observability/log.ts'
import { type Sentence, sentence } from '../sentences/sentence.ts'
import { endEvents, type WebhookEndpoint, type WebhookEvent, type WebhookStore } from './event-queue.ts'
import { DISABLE_AFTER_DAYS, hasFailedForLong, pauseAfter } from './rules/standard-webhooks.ts'

/** Dependencies of {@link noteTurn}. */
export interface HealthDeps<W extends WebhookEndpoint, E extends WebhookEvent> {
  store: WebhookStore<W, E>
  clock: Clock
  log: Log
  /** Called when the platform disabled a webhook, after that is stored. */
  onDisabled?(webhook: W): void
}

/** What happened in a turn of a webhook. */
export interface TurnFindings {
  succeeded: number
  failed: number
  isGone: boolean
  /** The longest wait that its receiver asked for, in milliseconds. */
  askedMs: number
}

/** Writes what a turn means for the webhook as it was read before; a webhook that works costs no write. */
export async function noteTurn<W extends WebhookEndpoint, E extends WebhookEvent>(
  deps: HealthDeps<W, E>,
  webhook: W,
  { succeeded, failed, isGone, askedMs }: TurnFindings,
): Promise<void> {
  const { store, clock } = deps
  if (isGone) return disable(deps, webhook, sentence('webhook.gone'))
  if (succeeded > 0) {
    if (webhook.failing) await update(store, webhook, { $unset: { failing: '' } })
    return
  }
  if (failed === 0) return
  const now = clock.now()
  const turns = (webhook.failing?.turns ?? 0) + 1
  const since = webhook.failing?.since ?? now
  if (hasFailedForLong({ since, turns }, now))
    return disable(deps, webhook, sentence('webhook.failing', { days: DISABLE_AFTER_DAYS }))
  const paused_until = new Date(now.getTime() + pauseAfter(turns, askedMs))
  await update(store, webhook, { $set: { failing: { since, turns, paused_until } } })
}

/** Disables it, unless it was changed since it was read; its waiting events are over. */
async function disable<W extends WebhookEndpoint, E extends WebhookEvent>(
  { store, clock, log, onDisabled }: HealthDeps<W, E>,
  webhook: W,
  reason: Sentence,
): Promise<void> {
  const disabled = { at: clock.now(), reason, notify: true }
  const isDisabled = await update(store, webhook, { $set: { enabled: false, disabled }, $unset: { failing: '' } })
  if (!isDisabled) return
  const ended = await endEvents(store, webhook._id, reason)
  log.info({ webhook: webhook._id, reason: reason.code, events: ended }, 'webhook disabled')
  onDisabled?.(webhook)
}

async function update<W extends WebhookEndpoint, E extends WebhookEvent>(
  { endpoints }: WebhookStore<W, E>,
  { _id, updated_at }: W,
  change: object,
): Promise<boolean> {
  const unchanged: object = { _id, enabled: true, updated_at }
  return (await endpoints.updateOne(unchanged, change)).matchedCount === 1
}
