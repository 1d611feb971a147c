/** Lists by position: what comes behind a record, newest first. */
import type { mongo } from 'mongoose'
import type { Position } from '../rules/paging.ts'

interface Dated {
  _id: number
  created_at: Date
}

/** The place of a record in a list of the newest first. */
export const positionOf = ({ _id, created_at }: Dated): Position => ({ at: created_at, id: _id })

/**
 * What comes behind a position in a list by this date. The first condition bounds the walk along an index; the other
 * parts those of one moment.
 */
export function behind<T extends { _id: number }>(
  { at, id }: Position,
  date: 'created_at' | 'at' = 'created_at',
): mongo.Filter<T> {
  const filter: mongo.Filter<{ _id: number }> = {
    [date]: { $lte: at },
    $or: [{ [date]: { $lt: at } }, { _id: { $lt: id } }],
  }
  return filter as mongo.Filter<T>
}
