/** Translates English sentences of the service by patterns with parameters in braces. */

interface Pattern {
  matches: RegExp
  names: string[]
  text: string
}

/** The translator returns undefined for a sentence that matches no pattern. */
export function sentenceTranslator(table: Readonly<Record<string, string>>): (sentence: string) => string | undefined {
  // Most specific pattern first: "The record cannot be used: {reason}." before "{reason}.".
  const patterns = Object.entries(table)
    .map(([english, text]): Pattern & { fixed: number } => {
      const names = [...english.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? [])
      const source = english.split(/\{\w+\}/).map(escaped)
      return { matches: new RegExp(`^${source.join('(.+?)')}$`, 's'), names, text, fixed: source.join('').length }
    })
    .sort((a, b) => b.fixed - a.fixed)

  function translate(sentence: string): string | undefined {
    if (sentence === '') return undefined
    for (const { matches, names, text } of patterns) {
      const found = matches.exec(sentence)
      if (found) return fill(text, names, found)
    }
    // Sentence prefixed by the name of a server, which is kept.
    const [, who, what = ''] = /^([\w.:-]+): (.+)$/s.exec(sentence) ?? []
    const words = translate(what)
    return words && `${who}：${words}`
  }

  /** Parameters may be sentences themselves, such as a reason or a note. */
  const fill = (text: string, names: readonly string[], found: RegExpExecArray) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const part = found[names.indexOf(name) + 1] ?? ''
      return translate(part) ?? part
    })

  return translate
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
