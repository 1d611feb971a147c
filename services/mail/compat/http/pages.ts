/** Lists of Resend: `limit`, and an id to go on after, or to show what comes before. */
import { pageQuery } from '../../../platform/cursor-pages.ts'
import { parse } from '../../../platform/http/web-app.ts'
import { refuseFields } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ForeignError } from '../rules/foreign-error.ts'
import { defined } from '../rules/loose-input.ts'
import type { ForeignRequest } from './foreign-routes.ts'

/** A page of the own API, translated. */
interface Page {
  data: { id: string }[]
  has_more: boolean
  /** Cursor of the next page. */
  next: string | null | undefined
}

/** Reads a page of the own API, which checks the query. */
type ReadPage = (query: { limit?: unknown; after?: unknown }) => Promise<Page>

/** The own API has no way back: what comes before an id is looked for from the beginning, over so many pages. */
const PAGES_BEFORE = 20
const LARGEST_PAGE = 100

/** Answers a list. */
export async function listPage({ query }: Pick<ForeignRequest, 'query'>, read: ReadPage): Promise<object> {
  const { limit, after, before } = query
  if (after !== undefined && before !== undefined)
    throw new ForeignError(422, 'validation_error', sentence('compat.one_cursor'))
  const { data, has_more } =
    before === undefined ? await read(defined({ limit, after })) : await readBefore(read, before, limit)
  return { object: 'list', has_more, data }
}

/** A page of the own API with its items translated. */
export function pageOf<T extends { id: string }>(
  { data, has_more }: { data: readonly T[]; has_more: boolean },
  translate: (item: T) => { id: string },
): Page {
  return { data: data.map(translate), has_more, next: data.at(-1)?.id }
}

/** The page that ends before an id: `has_more` says whether there is another one before it. */
async function readBefore(read: ReadPage, before: unknown, limit: unknown): Promise<Omit<Page, 'next'>> {
  const { limit: wanted } = parse(pageQuery, defined({ limit }), '') as { limit: number }
  const earlier: Page['data'] = []
  let after: string | null | undefined
  for (let page = 0; page < PAGES_BEFORE; page++) {
    const { data, has_more, next } = await read(defined({ limit: LARGEST_PAGE, after: after ?? undefined }))
    const at = data.findIndex(({ id }) => id === before)
    earlier.push(...(at === -1 ? data : data.slice(0, at)))
    if (at !== -1) return { data: earlier.slice(-wanted), has_more: earlier.length > wanted }
    if (!has_more || !next) break
    after = next
  }
  throw refuseFields([
    { pointer: '/before', reason: sentence('compat.before', { count: PAGES_BEFORE * LARGEST_PAGE }) },
  ])
}
