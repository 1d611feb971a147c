/** What a password that people choose must look like. */
import { z } from 'zod'

/** Shortest password; NIST SP 800-63B-4 section 3.1.1.2 asks for length and against rules on character classes. */
const MIN_PASSWORD = 8

/**
 * A new password: 8 to 256 characters. Control characters are refused, because NUL separates the fields of SASL PLAIN
 * (RFC 4616) and line ends do not survive being copied.
 */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD, `must have at least ${MIN_PASSWORD} characters`)
  .max(256, 'must have at most 256 characters')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it excludes
  .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters')

/** A password that somebody types to log in: only bounded, so that old ones keep working and none is a burden. */
export const typedPassword = z.string().min(1).max(1024)
