/** English sentence of the service about DNS or health, translated if the language has a translation. */

import { translateSentence } from '../../i18n/index.ts'
import { usePreferences } from '../../state/preferences.ts'

/** Untranslated sentences are marked as English for screen readers. */
export function ServiceSentence({ text }: { text: string }) {
  const { language } = usePreferences()
  return translateSentence(language, text) ?? <span lang="en">{text}</span>
}
