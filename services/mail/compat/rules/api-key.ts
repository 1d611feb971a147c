/** API keys of the other service as tokens. */

import { sentence } from '../../../platform/sentences/sentence.ts'
import { ForeignError, notServed } from './foreign-error.ts'

/** A token as the own API shows it. */
export interface OwnToken {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}

/** The scopes of a permission: all of the caller, who can grant no more. */
export function scopesOfPermission(permission: unknown, own: readonly string[]): string[] {
  if (permission === undefined || permission === 'full_access') return [...own]
  if (permission === 'sending_access') return ['emails:send']
  throw new ForeignError(
    422,
    'validation_error',
    sentence('detail.of_field', {
      field: 'permission',
      reason: sentence('field.option', { options: ['full_access', 'sending_access'] }),
    }),
  )
}

/** Renaming a key. */
export function refuseRename(): never {
  throw notServed(sentence('compat.field_not_served', { field: 'name' }))
}

/** The keys that work, as lists show them. */
export function toListedKeys(tokens: readonly OwnToken[]) {
  return tokens
    .filter(({ revoked_at }) => revoked_at === null)
    .map(({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at }))
}
