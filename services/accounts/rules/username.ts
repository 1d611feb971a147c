/** The shape of login names, shared by accounts and SMTP logins. */
import { z } from 'zod'

/**
 * A login name, case-folded: 1 to 128 ASCII letters, digits and `. _ @ + -`, beginning with a letter or digit. Other
 * scripts are left out because SMTP clients disagree on how to encode them in AUTH (SASLprep, RFC 4013).
 */
export const username = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9._@+-]{0,127}$/,
    'must have 1 to 128 letters, digits or . _ @ + - and begin with a letter or digit',
  )
  .meta({ pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$' })

/** The form under which a name that somebody typed at a login is looked up. Never fails: a wrong shape matches nobody. */
export function foldUsername(typed: string): string {
  return typed.trim().toLowerCase()
}
