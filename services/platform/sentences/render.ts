/**
 * What a sentence is, and its text in the language of a catalogue. This module loads no catalogue: the panel renders with
 * the one of the reader's language.
 */
import type { English } from './en/index.ts'

/** The stable code of a sentence. Every language has a text for each code; the compiler checks it. */
export type SentenceCode = keyof English

/**
 * A value for a placeholder. Strings and numbers are copied, sentences are rendered in the same language, lists are
 * joined with the separator of the language.
 */
export type SentenceParam = string | number | Sentence | readonly (string | Sentence)[]

/** A code with its parameters, as the API returns it and as documents store it. */
export interface Sentence {
  readonly code: SentenceCode
  readonly params?: Readonly<Record<string, SentenceParam>>
}

/** A sentence as documents hold it; a string was stored by an earlier release. */
export type StoredSentence = Sentence | string

/** The texts of one language by code; a name in braces is a placeholder. */
export interface Catalogue {
  readonly texts: Readonly<Record<SentenceCode, string>>
  /** Joins the items of a list. */
  readonly separator: string
}

/** The text of a sentence in the language of the catalogue. A string is returned unchanged: text of an older release. */
export function render(given: Sentence | string, catalogue: Catalogue): string {
  if (typeof given === 'string') return given
  // A newer release may have stored a code that this one lacks.
  const text = Object.hasOwn(catalogue.texts, given.code) ? catalogue.texts[given.code] : given.code
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = given.params?.[name]
    return value === undefined ? placeholder : renderParam(value, catalogue)
  })
}

function renderParam(value: SentenceParam, catalogue: Catalogue): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' || !isList(value)) return render(value, catalogue)
  return value.map(entry => render(entry, catalogue)).join(catalogue.separator)
}

function isList(value: Sentence | readonly (string | Sentence)[]): value is readonly (string | Sentence)[] {
  return Array.isArray(value)
}
