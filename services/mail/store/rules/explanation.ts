/** Texts of the delivery log: the words of a receiving server, or a sentence of ours. */
import { inEnglish, type Sentence, type StoredSentence } from '../../../platform/sentences/sentence.ts'

/** A text as documents have it. */
export interface Explained {
  /** In English where it is ours. */
  text: string
  /** Code and parameters of `text`; absent for the words of a server, and in documents of release 0.1.0. */
  explanation?: Sentence
}

/** The stored form of the words of a server (a string) or of a sentence of ours. */
export function explained(given: StoredSentence): Explained {
  if (typeof given === 'string') return { text: given }
  return given.code === 'text.verbatim' ? { text: inEnglish(given) } : { text: inEnglish(given), explanation: given }
}

/** The inverse of {@link explained}. */
export function explanationOf({ text, explanation }: Explained): StoredSentence {
  return explanation ?? text
}
