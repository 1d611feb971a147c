/** The parameter of lists that are searched by a part of a name. */
import { z } from 'zod'

/** Longest part: that of a domain. */
const MOST = 255

/** A part of a name, in any case. Names have no blanks and no control characters. */
export const searchField = z
  .string()
  .trim()
  .min(1)
  .max(MOST)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  .regex(/^[^\s\u0000-\u001f\u007f]+$/)
