/** Nightly maintenance: repair of the running counters, the opening counts of a month, and removal of expired data. */

import { DAY_MS } from '../../platform/durations.ts'
import { record } from '../audit/record-change.ts'
import { appsToPurge, liveAppKeys, markPurged } from '../catalogue/store/apps.ts'
import { dropDeletedRevisions } from '../catalogue/store/plans-and-flags.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { eraseRequested } from '../people/manage-end-users.ts'
import { addDays, monthStart } from '../rules/time-zone.ts'
import type { AppDoc } from '../store/models.ts'
import { purgeApp, repairCounters, repairDay, writeOpening } from './store/repair-and-purge.ts'

/** Deleted apps and switches can be restored for this time. */
const KEEP_MS = 30 * DAY_MS

/** Recounts yesterday and all running counters, app by app. */
export async function repairAllCounters(context: Subscriptions, signal: AbortSignal): Promise<void> {
  const yesterday = addDays(context.zone.day(context.clock.now()), -1)
  for (const appKey of await liveAppKeys(context.collections)) {
    if (signal.aborted) return
    await repairCounters(context.collections, appKey)
    const range = {
      day: yesterday,
      from: context.zone.startOf(yesterday),
      to: context.zone.startOf(addDays(yesterday, 1)),
    }
    await repairDay(context.collections, appKey, range)
  }
}

/** Stores, once a month, the number of timed subscriptions at its start: the base of the churn rate. */
export async function openMonth(context: Subscriptions): Promise<void> {
  const first = monthStart(context.zone.day(context.clock.now()))
  for (const appKey of await liveAppKeys(context.collections)) await writeOpening(context.collections, appKey, first)
}

/** Erases users who asked for it, data of apps deleted 30 days ago, and the history of switches deleted then. */
export async function purge(context: Subscriptions): Promise<void> {
  const now = context.clock.now()
  const before = new Date(now.getTime() - KEEP_MS)
  await eraseRequested(context, systemActor)
  for (const app of await appsToPurge(context.collections, before)) await emptyApp(context, app)
  await dropDeletedRevisions(context.collections, before)
}

/** When a worker stops between the two writes, the app has no mark and is emptied again the next night. */
async function emptyApp(context: Subscriptions, { _id, app_key: appKey }: AppDoc): Promise<void> {
  await purgeApp(context.collections, appKey)
  await record(context, systemActor, async session => {
    await markPurged(context.collections, appKey, context.clock.now(), session)
    return { result: undefined, event: { action: 'app.purge', appKey, target: { kind: 'app', id: String(_id) } } }
  })
}
