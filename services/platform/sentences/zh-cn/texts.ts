/** Sentences that consist of others, and text that is not ours. */
import type { texts as english } from '../en/texts.ts'

export const texts: Readonly<Record<keyof typeof english, string>> = {
  'text.verbatim': '{text}',
  'text.clauses': '{first}；{second}',
  'text.joined': '{first}{second}',
}
