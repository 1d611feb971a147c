/** Order of a list that the service sorts, in the address; the default order is left out of it. */
import { omitUndefined, stringParams } from './search-params.ts'

export type Direction = 'asc' | 'desc'

/** Cursor and order of a list. */
export interface OrderedSearch<C extends string = string> {
  after?: string
  sort?: C
  order?: Direction
}

/** Order of a table, and the change of it. */
export interface TableOrder {
  /** Name of the column, as the service calls it. */
  column: string
  direction: Direction
  set: (column: string, direction: Direction) => void
}

/** A list: its columns, the first of which it is sorted by at first, and in which direction. */
export interface ListColumns<C extends string> {
  columns: readonly [C, ...C[]]
  direction: Direction
}

/** Reads cursor and order of an address; what the list does not have is dropped. */
export function orderedSearch<C extends string>(
  list: ListColumns<C>,
): (raw: Record<string, unknown>) => OrderedSearch<C> {
  return raw => {
    const sort = list.columns.find(column => column === raw.sort)
    const order = (['asc', 'desc'] as const).find(direction => direction === raw.order)
    return { ...stringParams(raw, ['after']), ...shortened(list, { column: sort, direction: order }) }
  }
}

/** The order of a list for its table. `show` opens another address; a cursor of the order before is left out. */
export function tableOrder<C extends string, S extends OrderedSearch<C>>(
  list: ListColumns<C>,
  search: S,
  show: (search: S) => void,
): TableOrder {
  const { after: _after, sort, order, ...rest } = search
  const column = sort ?? list.columns[0]
  return {
    column,
    direction: order ?? defaultDirection(list, column),
    set: (name, direction) => {
      const chosen = list.columns.find(known => known === name)
      show(omitUndefined({ ...rest, ...shortened(list, { column: chosen, direction }) }) as unknown as S)
    },
  }
}

function shortened<C extends string>(
  list: ListColumns<C>,
  { column = list.columns[0], direction }: { column?: C | undefined; direction?: Direction | undefined },
): { sort?: C; order?: Direction } {
  return {
    ...(column === list.columns[0] ? {} : { sort: column }),
    ...(direction === undefined || direction === defaultDirection(list, column) ? {} : { order: direction }),
  }
}

/** As the service has it: texts are read from A on. */
function defaultDirection<C extends string>(list: ListColumns<C>, column: C): Direction {
  return column === list.columns[0] ? list.direction : 'asc'
}

const TIME = ['created_at'] as const
/** Lists that go from the oldest entry on, by time alone or by name as well. */
export const OLDEST_FIRST = { columns: TIME, direction: 'asc' } as const
export const NAMED_LIST = { columns: ['created_at', 'name'], direction: 'asc' } as const
export const USER_LIST = { columns: ['created_at', 'username'], direction: 'asc' } as const
export const INVITATION_LIST = { columns: ['created_at', 'email'], direction: 'asc' } as const
export const SUPPRESSION_LIST = { columns: ['created_at', 'email'], direction: 'desc' } as const
export const NEWEST_FIRST = { columns: TIME, direction: 'desc' } as const
/** Records of what happened. */
export const LATEST_FIRST = { columns: ['at'], direction: 'desc' } as const
