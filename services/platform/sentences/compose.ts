/** Sentences that consist of other sentences or of text that is not ours. */
import { type Sentence, type StoredSentence, sentence } from './sentence.ts'

/** Text from outside, such as the message of another system: it is shown as it is in every language. */
export function verbatim(text: string): Sentence {
  return sentence('text.verbatim', { text })
}

/** A sentence as it is, and text of an earlier release or from outside as a sentence of its own. */
export function asSentence(given: StoredSentence): Sentence {
  return typeof given === 'string' ? verbatim(given) : given
}

/** Parts of a sentence, at least one, separated by semicolons: they may have commas of their own. */
export function clauses(parts: readonly Sentence[]): Sentence {
  return parts.reduce((first, second) => sentence('text.clauses', { first, second }))
}

/** Several complete sentences as one. */
export function joined(sentences: readonly [StoredSentence, ...StoredSentence[]]): Sentence {
  return sentences.map(asSentence).reduce((first, second) => sentence('text.joined', { first, second }))
}
