/** Errors of single fields of a request, before an API gives them its own form. */
import type { Sentence } from './sentence.ts'

/** An error of one field. */
export interface FieldError {
  /** JSON pointer (RFC 6901) into the body; empty for the whole body. */
  pointer: string
  reason: Sentence
  /** The code in the answer, where clients know another one than that of the sentence. */
  code?: string
}
