/** A sentence of the service, in the reader's language. */
import { useEffect, useReducer } from 'react'
import { type CodedSentence, loadAllTexts, renderSentence } from '../../i18n/index.ts'
import { preferences, usePreferences } from '../../state/preferences.ts'

/** A sentence as the API returns it: its English text, and its code unless an older release stored it. */
export interface ApiSentence extends Partial<Pick<CodedSentence, 'params'>> {
  text: string
  code?: string | null | undefined
  /** The text is in the reader's language already. */
  translated?: boolean
}

/** Texts without a translation are marked as English for screen readers. */
export function ServiceSentence({ text, code, params, translated: isTranslated }: ApiSentence) {
  const { language } = usePreferences()
  const [, update] = useReducer((count: number) => count + 1, 0)
  const translated = code && !isTranslated ? renderSentence(language, { code, params }) : undefined
  const isMissing = Boolean(code) && !isTranslated && translated === undefined
  // On a page that is opened first.
  useEffect(() => {
    if (isMissing) loadAllTexts().then(update, () => undefined)
  }, [isMissing])
  if (isTranslated) return text
  return translated === undefined || translated === text ? <span lang="en">{text}</span> : translated
}

/** The same as text, for notifications. */
export function sentenceText({ text, code, params }: ApiSentence): string {
  return (code ? renderSentence(preferences().language, { code, params }) : undefined) ?? text
}

/** The sentences of a list field of the API, from its texts and the codes beside them. */
export function sentencesOf(texts: readonly string[], codes: readonly CodedSentence[]): ApiSentence[] {
  return texts.map((text, index) => ({ text, ...codes[index] }))
}
