/** Reminders in the database: which were claimed, and which went out. */
import { isDuplicateKey } from '../../platform/mongo.ts'
import type { Collections } from './collections.ts'
import type { ReminderDoc } from './documents.ts'

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
