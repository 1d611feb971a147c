/** Lists of the mail API: pages by cursor, without totals, because counting millions of rows takes minutes. */
import { z } from 'zod'

/** Query of a list: `after` is the id of the last item that the caller has. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().min(1).max(128).optional(),
})

/** The requested page. */
export interface PageRequest {
  limit: number
  after?: string | undefined
}

/** Schema of a page of items. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })
}

/** Creates a page of rows that were read with one more than the limit. */
export function toPage<R, T>(rows: readonly R[], limit: number, show: (row: R) => T) {
  return { object: 'list' as const, data: rows.slice(0, limit).map(show), has_more: rows.length > limit }
}
