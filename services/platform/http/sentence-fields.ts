/**
 * Sentences in API answers. A field with an English text `x` has its code in `x_code` and its parameters in `x_params`;
 * a list of texts `xs` has the codes and parameters of its entries, in the same order, in `xs_codes`.
 */
import { z } from 'zod'
import { asSentence } from '../sentences/compose.ts'
import { inEnglish, type StoredSentence } from '../sentences/sentence.ts'

/** Schema of `x_code`. */
export const sentenceCode = z.string().meta({
  description:
    'Stable code of the sentence whose English text is in the field without `_code`. ' +
    'Programs should compare codes: texts may be improved in any release. `text.verbatim` is text without a code of its own.',
  examples: ['dns.spf_missing'],
})

/** Schema of `x_params`. */
export const sentenceParams = z.record(z.string(), z.unknown()).meta({
  description:
    'Parameters of the sentence by name: strings, numbers, sentences (`code` and `params`), or lists of strings and sentences.',
  examples: [{ name: 'example.com' }],
})

/** Schema of `xs_codes`. */
export const sentenceCodes = z.array(
  z.strictObject({ code: sentenceCode, params: sentenceParams }).meta({
    id: 'Sentence',
    description:
      'A sentence as its stable code and its parameters, for clients that render it in the language of the reader.',
  }),
)

type Fields<Name extends string, Absent> = Record<Name, string | Absent> &
  Record<`${Name}_code`, string | Absent> &
  Record<`${Name}_params`, Record<string, unknown> | Absent>

/** The fields `x`, `x_code` and `x_params`; all are null without a sentence. */
export function sentenceFields<Name extends string>(name: Name, given: StoredSentence): Fields<Name, never>
export function sentenceFields<Name extends string>(name: Name, given: StoredSentence | undefined): Fields<Name, null>
export function sentenceFields<Name extends string>(
  name: Name,
  given: StoredSentence | undefined,
): Record<string, unknown> {
  const { code = null, params = null } = given === undefined ? {} : codeAndParams(given)
  return {
    [name]: given === undefined ? null : inEnglish(given),
    [`${name}_code`]: code,
    [`${name}_params`]: params,
  }
}

/** The fields `xs` and `xs_codes`. */
export function sentenceListFields<Name extends string>(
  name: Name,
  given: readonly StoredSentence[],
): Record<Name, string[]> & Record<`${Name}_codes`, { code: string; params: Record<string, unknown> }[]>
export function sentenceListFields(name: string, given: readonly StoredSentence[]): Record<string, unknown> {
  return { [name]: given.map(inEnglish), [`${name}_codes`]: given.map(codeAndParams) }
}

/** An entry of `xs_codes`. */
export function codeAndParams(given: StoredSentence): { code: string; params: Record<string, unknown> } {
  const { code, params } = asSentence(given)
  return { code, params: { ...params } }
}
