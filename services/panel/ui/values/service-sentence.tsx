/** A sentence of the service about DNS or health, in the reader's language where it has words for it. */

import { translateSentence } from '../../i18n/index.ts'
import { usePreferences } from '../../state/preferences.ts'

/** The sentence; English ones are marked as such for screen readers. */
export function ServiceSentence({ text }: { text: string }) {
  const { language } = usePreferences()
  return translateSentence(language, text) ?? <span lang="en">{text}</span>
}
