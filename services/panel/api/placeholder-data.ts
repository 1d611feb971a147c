/** Which answer may stand on the screen in place of another one until that comes. */
import type { AnyInput } from './typed.ts'

/**
 * True for another page, order or filter of the same list. What belongs to another thing or to another app never stands
 * in: somebody could act on it.
 */
export function isSameList(before: unknown, now: AnyInput): boolean {
  const { params, query } = (before ?? {}) as AnyInput
  return JSON.stringify(params) === JSON.stringify(now.params) && query?.app_key === now.query?.app_key
}
