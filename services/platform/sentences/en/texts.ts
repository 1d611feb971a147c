/** Sentences that consist of others, and text that is not ours. */

export const texts = {
  'text.verbatim': '{text}',
  'text.clauses': '{first}; {second}',
  'text.joined': '{first} {second}',
} as const
