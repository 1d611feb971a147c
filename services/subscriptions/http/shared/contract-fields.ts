/** Request fields that operations of several subjects share. */
import { z } from 'zod'
import { integer, pathId, text } from '../../rules/field-schemas.ts'

export const CSV = { 'text/csv': { type: 'string' } }
export const search = text(0, 64).optional()
export const version = integer(1, Number.MAX_SAFE_INTEGER).optional()
/** Selects the app. */
export const appKey = z.string().min(1)
export const params = z.object({ id: pathId })
export const revision = z.object({ revision: integer(1, Number.MAX_SAFE_INTEGER) })
