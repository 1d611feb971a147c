/** Finds the blocks of the message log that have some terms, in either direction. Reads index keys, not the terms of blocks. */
import { type Collection, collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { type BlockPlace, keyOf, LOG_BLOCKS, type LogBlockDoc, PLACE, SPAN, spanOf } from './log-blocks.ts'
import type { IdBounds } from './log-filters.ts'

/** Some blocks, and the cursor after all that they and the blocks without the terms cover; null: there are no more. */
export interface BlockRound {
  places: BlockPlace[]
  next: string | null
}

/** Blocks that a search asks for in parallel. */
const AHEAD = 64
/** Spans that one question covers: a seek for each. */
const SPANS_AT_ONCE = 32
/** Greater than every id. */
const AFTER_IDS = '~'

/** What differs between the directions. */
interface Way {
  sort: 1 | -1
  /** Compares numbers of blocks: from one on, and up to one. */
  onwards: '$gte' | '$lte'
  upTo: '$lte' | '$gte'
  isPast: (a: number, b: number) => boolean
  /** The cursor after a block. */
  after: (place: BlockPlace) => string
  /** True when no block further on is within the bounds. */
  isLast: (place: BlockPlace, bounds: Bounds) => boolean
}

/** Ids: `from` is inclusive, `above` and `below` are exclusive. */
type Bounds = Required<{ [N in 'from' | 'above' | 'below']: string }>

const WAYS: Readonly<Record<'asc' | 'desc', Way>> = {
  asc: {
    ...{ sort: 1, onwards: '$gte', upTo: '$lte', isPast: (a, b) => a > b },
    after: ({ last }) => last,
    isLast: ({ last }, { below }) => last >= below,
  },
  desc: {
    ...{ sort: -1, onwards: '$lte', upTo: '$gte', isPast: (a, b) => a < b },
    after: ({ first }) => first,
    isLast: ({ last }, { from }) => last < from,
  },
}

/** Blocks within bounds that have all of some terms: the newest first (`desc`), or the oldest. */
export async function* blocksWithAll(
  db: Db,
  terms: readonly number[],
  { from = '', above = '', below = AFTER_IDS }: IdBounds,
  order: 'asc' | 'desc',
): AsyncGenerator<BlockRound> {
  const blocks = collectionOf(db, LOG_BLOCKS)
  const way = WAYS[order]
  const bounds = { from, above, below }
  const [begin, end] = await Promise.all([firstBlock(blocks, order, bounds), edgeOf(blocks, way.sort === 1 ? -1 : 1)])
  const isWithin = ({ first, last }: BlockPlace) => last >= from && last > above && first < below
  let at = begin
  while (at !== undefined && end && !way.isPast(at, end._id)) {
    const { ids, reached } = await shared(blocks, terms, { at, end: end._id, way })
    const [places, edge] = await Promise.all([
      placesOf(blocks, ids, way),
      edgeOf(blocks, way.sort === 1 ? -1 : 1, { [way.upTo]: reached }),
    ])
    const isEnd: boolean = !way.isPast(end._id, reached) || !edge || way.isLast(edge, bounds)
    yield { places: places.filter(isWithin), next: isEnd || !edge ? null : way.after(edge) }
    at = isEnd ? undefined : reached + way.sort
  }
}

/** Where a search begins: with the block that has the bound. Above all blocks there is nothing on the way up. */
async function firstBlock(
  blocks: Collection<LogBlockDoc>,
  order: 'asc' | 'desc',
  { from, above, below }: Bounds,
): Promise<number | undefined> {
  const last = order === 'asc' ? { $gte: from, $gt: above } : { $gte: below }
  const holder = await blocks.findOne({ last }, { sort: { last: 1 }, projection: { _id: 1 } })
  return holder?._id ?? (order === 'asc' ? undefined : (await edgeOf(blocks, -1))?._id)
}

/** From which block on a search goes, and the last one in its direction. */
interface Stretch {
  at: number
  end: number
  way: Way
}

/** Blocks with all of the terms from `at` on, as far as the rarest of the terms leads: to `reached`. */
async function shared(
  blocks: Collection<LogBlockDoc>,
  terms: readonly number[],
  { at, end, way }: Stretch,
): Promise<{ ids: number[]; reached: number }> {
  const count = Math.min(SPANS_AT_ONCE, Math.abs(spanOf(end) - spanOf(at)) + 1)
  const spans = Array.from({ length: count }, (_, index) => spanOf(at) + index * way.sort)
  const last = spans.at(-1) ?? 0
  const outermost = way.sort === 1 ? (last + 1) * SPAN - 1 : last * SPAN
  const lists = await Promise.all(
    terms.map(async term => {
      const ids = await idsWith(blocks, { term, spans, way }, { [way.onwards]: at })
      return { ids, reached: ids.length < AHEAD ? outermost : (ids.at(-1) ?? outermost) }
    }),
  )
  const rarest = lists.reduce((a, b) =>
    way.isPast(b.reached, a.reached) || (b.reached === a.reached && b.ids.length < a.ids.length) ? b : a,
  )
  let { ids } = rarest
  for (const term of terms.length > 1 ? terms : [])
    ids =
      ids.length > 0 ? await idsWith(blocks, { term, spans: [...new Set(ids.map(spanOf))], way }, { $in: ids }) : ids
  return { ids, reached: rarest.reached }
}

/** Numbers of blocks that have a term, in the direction of the search. */
async function idsWith(
  blocks: Collection<LogBlockDoc>,
  { term, spans, way }: { term: number; spans: readonly number[]; way: Way },
  range: object,
): Promise<number[]> {
  const found = await blocks
    .find(
      { terms: { $in: spans.map(span => keyOf(span, term)) }, _id: range },
      { projection: { _id: 1 }, hint: { terms: 1, _id: -1 } },
    )
    .sort({ _id: way.sort })
    .limit(AHEAD)
    .toArray()
  return found.map(({ _id: id }) => id)
}

/** Where these blocks are, in the direction of the search. Most rounds for a rare term find none. */
async function placesOf(blocks: Collection<LogBlockDoc>, ids: readonly number[], { sort }: Way): Promise<BlockPlace[]> {
  if (ids.length === 0) return []
  return blocks.find({ _id: { $in: [...ids] } }, { projection: PLACE, sort: { _id: sort } }).toArray()
}

/** The oldest (1) or newest (-1) block of a range of numbers. */
function edgeOf(blocks: Collection<LogBlockDoc>, direction: 1 | -1, _id?: object): Promise<BlockPlace | null> {
  return blocks.findOne(_id ? { _id } : {}, { sort: { _id: direction }, projection: PLACE })
}
