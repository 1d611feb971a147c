/** Reminders in the database: claimed and sent ones. */
import { isDuplicateKey } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { ReminderDoc } from '../../store/documents.ts'

/**
 * Claims a reminder; false when it was sent, or when another worker claimed it after `staleBefore` and may still be
 * sending it.
 */
export async function claimReminder(collections: Collections, fresh: ReminderDoc, staleBefore: Date): Promise<boolean> {
  try {
    await collections.reminders.insertOne(fresh)
    return true
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  const match = { _id: fresh._id, state: 'claimed' as const, at: { $lt: staleBefore } }
  return (await collections.reminders.updateOne(match, { $set: { at: fresh.at } })).matchedCount === 1
}

/** Marks a reminder as sent. */
export async function markReminded(collections: Collections, id: string, at: Date): Promise<void> {
  await collections.reminders.updateOne({ _id: id }, { $set: { state: 'sent', at } })
}

/** Counts one more reminder of an app on a day; false when the quota is used up. Parallel workers never exceed it. */
export async function takePlace(
  collections: Collections,
  appKey: string,
  day: string,
  places: number,
): Promise<boolean> {
  const filter = { _id: `${appKey}/${day}`, $nor: [{ reminders: { $gte: places } }] }
  const count = { $inc: { reminders: 1 } }
  try {
    await collections.days.updateOne(filter, { ...count, $setOnInsert: { app_key: appKey, day } }, { upsert: true })
    return true
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  // The first document of the day was written in parallel, or the quota is used up.
  return (await collections.days.updateOne(filter, count)).matchedCount === 1
}

/** Takes back a count of a reminder that was not sent. */
export async function releasePlace(collections: Collections, appKey: string, day: string): Promise<void> {
  await collections.days.updateOne({ _id: `${appKey}/${day}` }, { $inc: { reminders: -1 } })
}
