/** Reminders in the database: which were claimed, and which went out. */
import { isDuplicateKey } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { ReminderDoc } from '../../store/documents.ts'

/**
 * Claims a reminder; false when it went out, or when another worker claimed it after `staleBefore` and may still be
 * at it.
 */
export async function claimReminder(c: Collections, fresh: ReminderDoc, staleBefore: Date): Promise<boolean> {
  try {
    await c.reminders.insertOne(fresh)
    return true
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  const match = { _id: fresh._id, state: 'claimed' as const, at: { $lt: staleBefore } }
  return (await c.reminders.updateOne(match, { $set: { at: fresh.at } })).matchedCount === 1
}

/** Marks a reminder as handed over. */
export async function markReminded(c: Collections, id: string, at: Date): Promise<void> {
  await c.reminders.updateOne({ _id: id }, { $set: { state: 'sent', at } })
}

/** Counts one more reminder of an app on a day; false when there were so many. Workers at the same time never exceed it. */
export async function takePlace(c: Collections, appKey: string, day: string, places: number): Promise<boolean> {
  const filter = { _id: `${appKey}/${day}`, $nor: [{ reminders: { $gte: places } }] }
  const count = { $inc: { reminders: 1 } }
  try {
    await c.days.updateOne(filter, { ...count, $setOnInsert: { app_key: appKey, day } }, { upsert: true })
    return true
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  // Somebody wrote the first figure of the day in this moment, or all places are taken.
  return (await c.days.updateOne(filter, count)).matchedCount === 1
}

/** Takes back a count: the reminder did not go out. */
export async function leavePlace(c: Collections, appKey: string, day: string): Promise<void> {
  await c.days.updateOne({ _id: `${appKey}/${day}` }, { $inc: { reminders: -1 } })
}
