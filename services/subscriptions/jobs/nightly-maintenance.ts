/** Keeps the running figures true: the nightly repair, the opening figures of a month, and what is to be forgotten. */

import { DAY_MS } from '../../platform/durations.ts'
import { record } from '../audit/record-change.ts'
import { appsToPurge, liveAppKeys, markPurged } from '../catalogue/store/apps.ts'
import { dropDeletedRevisions } from '../catalogue/store/plans-and-flags.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { eraseRequested } from '../people/manage-end-users.ts'
import { addDays, monthStart } from '../rules/time-zone.ts'
import type { AppDoc } from '../store/documents.ts'
import { purgeApp, repairCounters, repairDay, writeOpening } from './store/repair-and-purge.ts'

/** Deleted apps and switches can be brought back for so long. */
const KEEP_MS = 30 * DAY_MS

/** Counts yesterday and all running figures anew, app by app. */
export async function repairFigures(s: Subscriptions, signal: AbortSignal): Promise<void> {
  const yesterday = addDays(s.zone.day(s.clock.now()), -1)
  for (const appKey of await liveAppKeys(s.c)) {
    if (signal.aborted) return
    await repairCounters(s.c, appKey)
    const range = { day: yesterday, from: s.zone.startOf(yesterday), to: s.zone.startOf(addDays(yesterday, 1)) }
    await repairDay(s.c, appKey, range)
  }
}

/** Writes, once a month, how many timed subscriptions the month began with: what churn is measured by. */
export async function openMonth(s: Subscriptions): Promise<void> {
  const first = monthStart(s.zone.day(s.clock.now()))
  for (const appKey of await liveAppKeys(s.c)) await writeOpening(s.c, appKey, first)
}

/** Erases users who asked for it, data of apps deleted 30 days ago, and the history of switches deleted then. */
export async function purge(s: Subscriptions): Promise<void> {
  const now = s.clock.now()
  const before = new Date(now.getTime() - KEEP_MS)
  await eraseRequested(s, systemActor)
  for (const app of await appsToPurge(s.c, before)) await emptyApp(s, app)
  await dropDeletedRevisions(s.c, before)
}

/** Who dies in between leaves an app without its mark, and the next night empties it again. */
async function emptyApp(s: Subscriptions, { _id, app_key: appKey }: AppDoc): Promise<void> {
  await purgeApp(s.c, appKey)
  await record(s, systemActor, async session => {
    await markPurged(s.c, appKey, s.clock.now(), session)
    return { result: undefined, deed: { action: 'app.purge', appKey, target: { kind: 'app', id: String(_id) } } }
  })
}
