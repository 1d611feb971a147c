/** The page that a preview shows in a frame: a frame loads an address, and only an own response has a policy of its own. */
import * as field from '../../../platform/database/fields.ts'
import { type Db, defineModel, modelOf } from '../../../platform/database/models.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'

/** The latest preview of each account; `_id` is the account, so that there is never more than one. */
export const templatePreviews = defineModel('template_previews', {
  _id: field.text,
  key: field.text,
  html: field.text,
  exp: field.date,
})
templatePreviews.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** Lifetime of a preview: as long as it may be on a screen before its frame is loaded again. */
const LIFETIME_MS = 10 * MINUTE_MS

/** Stores the preview of an account in the place of the one before. */
export async function savePreview(db: Db, userId: string, key: string, html: string, now: Date): Promise<void> {
  const exp = new Date(now.getTime() + LIFETIME_MS)
  await modelOf(db, templatePreviews).updateOne({ _id: userId }, { $set: { key, html, exp } }, { upsert: true })
}

/** The HTML of a preview of the account, while it is the latest one. */
export async function readPreview(db: Db, userId: string, key: string): Promise<string | undefined> {
  return (await modelOf(db, templatePreviews).findOne({ _id: userId, key }).lean())?.html
}
