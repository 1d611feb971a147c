/** Values, pagination and revisions that records of several subjects have on the wire. */
import { z } from 'zod'

export const digits = z.string().regex(/^[0-9]+$/)

export const dateTime = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/)

export const yuan = z.string().regex(/^[0-9]+[.][0-9]{2}$/)

export const flag = z.enum(['0', '1'])

export const count = z.number().int()

/** Pagination of users, apps, plans and logs. */
export const pagination = z
  .object({
    current_page: count,
    page_size: count,
    total_pages: count,
    total_records: count,
    total_is_capped: z.boolean().optional(),
    next_cursor: z.string().optional(),
  })
  .meta({ id: 'Pagination' })

/** Former states of a switch or plan. */
export const revisions = z
  .object({
    revisions: z.array(
      z.object({ revision: digits, deleted: z.boolean(), by: z.string(), at: dateTime, record: z.object({}).loose() }),
    ),
  })
  .meta({ id: 'Revisions' })

/** `data` of responses without content. */
export const empty = z.object({})
