/** Lists of Resend: `limit`, and an id to go on after, or to show what comes before. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ForeignError, notServed } from '../rules/foreign-error.ts'
import { defined } from '../rules/loose-input.ts'
import type { ForeignRequest } from './foreign-routes.ts'

/** A page of the own API, translated. */
interface Page {
  data: object[]
  has_more: boolean
}

/** Answers a list. The own API checks `limit` and `after`. */
export async function listPage(
  { query }: Pick<ForeignRequest, 'query'>,
  read: (page: { limit?: unknown; after?: unknown }) => Promise<Page>,
): Promise<object> {
  const { limit, after, before } = query
  if (after !== undefined && before !== undefined)
    throw new ForeignError(422, 'validation_error', sentence('compat.one_cursor'))
  if (before !== undefined) throw notServed(sentence('compat.field_not_served', { field: 'before' }))
  const { data, has_more } = await read(defined({ limit, after }))
  return { object: 'list', has_more, data }
}
