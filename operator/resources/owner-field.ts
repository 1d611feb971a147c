/** The field of kinds that act for an account. */
import { z } from 'zod'
import { immutable } from './kind.ts'

/** The account of a record, by its name; add `presenceIsFixed('owner')` to the parent. */
export function ownerField(description: string) {
  return z
    .object({
      username: immutable(z.string().min(1).max(128), 'owner.username').describe('Name of an existing account.'),
    })
    .optional()
    .describe(description)
}
