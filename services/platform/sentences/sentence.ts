/**
 * A text for people, as a stable code with parameters. One catalogue per language renders it; API answers
 * and stored documents keep code and parameters beside the English text, so that every reader sees their own language.
 */
import { type English, english } from './en/index.ts'
import { type Catalogue, render, type Sentence, type SentenceCode, type SentenceParam } from './render.ts'

export type { Sentence, StoredSentence } from './render.ts'

/** The names of the placeholders of a text. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

/** Placeholders for words in the language of the reader: text from outside has to be marked as `text.verbatim`. */
type WordsOf =
  | 'detail'
  | 'effect'
  | 'errors'
  | 'first'
  | 'hint'
  | 'losses'
  | 'reason'
  | 'reasons'
  | 'results'
  | 'second'
  | 'whose'

/** The parameters that a code needs, none of which may be missing. */
export type ParamsOf<Code extends SentenceCode> = {
  readonly [Name in Placeholders<English[Code]>]: Name extends WordsOf ? Sentence | readonly Sentence[] : SentenceParam
}

/** Makes a sentence; the compiler requires a value for each placeholder of the English text and permits no other. */
export function sentence<Code extends SentenceCode>(
  code: Code,
  ...[params]: Placeholders<English[Code]> extends never ? [] : [ParamsOf<Code>]
): Sentence {
  return params ? { code, params } : { code }
}

const ENGLISH: Catalogue = { texts: english, separator: ', ' }

/** The English text: for logs, conditions of Kubernetes, SMTP replies and the text fields of the API. */
export function inEnglish(given: Sentence | string): string {
  return render(given, ENGLISH)
}

/** An error about something that a person can correct; `message` is the English text of `sentence`. */
export class SentenceError extends Error {
  readonly sentence: Sentence
  constructor(given: Sentence, options?: ErrorOptions) {
    super(inEnglish(given), options)
    this.name = new.target.name
    this.sentence = given
  }
}
