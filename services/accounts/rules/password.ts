/** Rules for chosen passwords. */
import { z } from 'zod'
import { reason } from '../../platform/sentences/issue-reason.ts'

/**
 * Shortest password; NIST SP 800-63B-4 section 3.1.1.2 requires a minimum length and rejects rules on character
 * classes.
 */
const MIN_PASSWORD = 8

/**
 * A new password: 8 to 256 characters. Control characters are refused, because NUL separates the fields of SASL PLAIN
 * (RFC 4616) and line ends do not survive being copied.
 */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD, reason('field.too_short'))
  .max(256, reason('field.too_long'))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it excludes
  .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, reason('field.control_characters'))

/** A password entered at login: only bounded in length, so that old ones stay valid. */
export const typedPassword = z.string().min(1).max(1024)
