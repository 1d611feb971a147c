/** The page that a preview shows in a frame: a frame loads an address, and only an own response has a policy of its own. */
import * as field from '../../../platform/database/fields.ts'
import { type Db, defineModel, modelOf } from '../../../platform/database/models.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'

/** The latest previews of each account; `_id` is the account, so that there are never more than {@link KEPT}. */
export const templatePreviews = defineModel('template_previews', {
  _id: field.text,
  pages: [{ _id: false, key: field.text, html: field.text }],
  exp: field.date,
})
templatePreviews.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** Lifetime of a preview: as long as it may be on a screen before its frame is loaded again. */
const LIFETIME_MS = 10 * MINUTE_MS

/**
 * Previews kept for an account. A frame asks for its page after the answer that names it, and by then the next preview
 * may be stored: while a user types, or in a second window. Three pages of the largest size fit one document.
 */
export const KEPT = 3

/** Stores a preview of an account; the oldest one goes when there are more than {@link KEPT}. */
export async function savePreview(db: Db, userId: string, key: string, html: string, now: Date): Promise<void> {
  const exp = new Date(now.getTime() + LIFETIME_MS)
  const pages = { $each: [{ key, html }], $slice: -KEPT }
  await modelOf(db, templatePreviews).updateOne({ _id: userId }, { $set: { exp }, $push: { pages } }, { upsert: true })
}

/** The HTML of a preview of the account, while it is one of the latest. */
export async function readPreview(db: Db, userId: string, key: string): Promise<string | undefined> {
  const stored = await modelOf(db, templatePreviews).findOne({ _id: userId, 'pages.key': key }).lean()
  return stored?.pages?.find(page => page.key === key)?.html
}
