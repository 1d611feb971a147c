/** When a previous response may be shown while another one is loading. */
import type { AnyInput } from './typed.ts'

/**
 * True for another page, order or filter of the same list. Data of another resource or another app is never shown in its
 * place: the user could act on the wrong one.
 */
export function isSameList(before: unknown, now: AnyInput): boolean {
  const { params, query } = (before ?? {}) as AnyInput
  return JSON.stringify(params) === JSON.stringify(now.params) && query?.app_key === now.query?.app_key
}
