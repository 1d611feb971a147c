/** Sentences that consist of other sentences or of text that is not ours. */
import { type Sentence, type StoredSentence, sentence } from './sentence.ts'

/** Text from outside, such as the message of another system: it is shown as it is in every language. */
export function verbatim(text: string): Sentence {
  return sentence('text.verbatim', { text })
}

/** Several complete sentences as one. */
export function joined([first, ...rest]: readonly [StoredSentence, ...StoredSentence[]]): Sentence {
  const start = typeof first === 'string' ? verbatim(first) : first
  return rest.reduce<Sentence>((before, next) => sentence('text.joined', { first: before, second: next }), start)
}
