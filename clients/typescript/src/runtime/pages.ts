/** Lists page by page. */
import type { Client } from './client.ts'
import type { Operation } from './operation.ts'

/** A list of the mail API; `next` where a page can be shorter than the limit. */
interface ItemPage<Item> {
  data: readonly Item[]
  has_more: boolean
  next?: string | null
}

/**
 * Yields every item of a list of the mail API, reading the next page when it is needed:
 * `for await (const email of eachItem(listEmails, client, { query: { status: 'bounced' } }))`.
 */
export async function* eachItem<Given extends { query?: object }, Item extends object>(
  list: Operation<Given, ItemPage<Item>>,
  client: Client,
  input?: NoInfer<Given>,
): AsyncGenerator<Item, void, undefined> {
  const read = list as unknown as Read<ItemPage<Item>>
  let after: string | undefined
  do {
    const page = await read(client, { ...input, query: { ...input?.query, ...(after !== undefined && { after }) } })
    yield* page.data
    after = page.has_more ? (page.next ?? cursorOf(page.data.at(-1))) : undefined
  } while (after !== undefined)
}

/** A list of the Subscription Administration API. */
interface NumberedPage {
  pagination: { current_page: number; total_pages: number; next_cursor?: string } | { page: number; totalPages: number }
}

/**
 * Yields every page of a list of the Subscription Administration API, by cursor where the list has one:
 * `for await (const { users } of eachPage(listUsers, client, { query: { app_key: 'demo' } }))`.
 */
export async function* eachPage<Given extends { query?: object }, Result>(
  list: Operation<Given, Result>,
  client: Client,
  input?: NoInfer<Given>,
): AsyncGenerator<Extract<Result, NumberedPage>, void, undefined> {
  type Page = Extract<Result, NumberedPage>
  const read = list as unknown as Read<Page>
  let position: { cursor?: string; page?: number } | undefined = {}
  do {
    const page: Page = await read(client, { ...input, query: { ...input?.query, ...position } })
    yield page
    position = nextOf(page.pagination, position.cursor !== undefined)
  } while (position)
}

type Read<Page> = (client: Client, input: object) => Promise<Page>

/** A page that was read by cursor is counted as the first one: only its own cursor leads on. */
function nextOf(pagination: NumberedPage['pagination'], byCursor: boolean) {
  if ('next_cursor' in pagination && pagination.next_cursor) return { cursor: pagination.next_cursor }
  const [page, pages] =
    'page' in pagination ? [pagination.page, pagination.totalPages] : [pagination.current_page, pagination.total_pages]
  return !byCursor && page < pages ? { page: page + 1 } : undefined
}

/** Lists go on after the id of an item, and versions of a template after their number. */
function cursorOf(item: object | undefined): string | undefined {
  const { id, version } = (item ?? {}) as { id?: string; version?: number }
  return id ?? version?.toString()
}
