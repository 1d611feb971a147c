/** The shape of login names, shared by accounts and SMTP logins. */

import { z } from 'zod'
import { reason } from '../../platform/sentences/issue-reason.ts'

/**
 * A login name, case-folded: 1 to 128 ASCII letters, digits and `. _ @ + -`, beginning with a letter or digit. Other
 * scripts are left out because SMTP clients disagree on how to encode them in AUTH (SASLprep, RFC 4013).
 */
export const username = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9._@+-]{0,127}$/, reason('field.user_name'))
  .meta({ pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$' })

/** Normalises a name entered at a login for the lookup. Never throws: an invalid name matches no account. */
export function foldUsername(typed: string): string {
  return typed.trim().toLowerCase()
}
