/** The requested page of a list. */
import { ProblemError } from '../../../platform/problems.ts'
import { MAX_OFFSET, type Page, pageOf } from '../../rules/paging.ts'

/** The page of a query. Throws `page_too_deep` beyond the deepest skip. */
export function requestedPage(query: Parameters<typeof pageOf>[0]): Page {
  const page = pageOf(query)
  if (page.offset > MAX_OFFSET) throw new ProblemError('page_too_deep')
  return page
}
