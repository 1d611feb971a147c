/** Results of tools: bounded, and with text of other people as nothing but data. */

/** Most characters of one text: the public key of a DKIM record and a long reply have fewer. */
const TEXT_CHARS = 2_000
/** Most items of a list inside a result. */
export const MAX_ITEMS = 100
/** Most characters of a whole result: what a model can read in one go. */
const RESULT_CHARS = 100_000

/**
 * Characters that only choose the form of others: variation selectors, joiners and non-joiners. Chinese text and emoji stay
 * readable without them, and hundreds in a row can spell out hidden text.
 */
const FORMS = /\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu

/**
 * Other characters that people do not see, or that change the order of others: control characters except line feed and
 * tab, direction marks, line separators, and all that render as nothing, such as tag characters (U+E0000).
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu

/** Codes and parameters of sentences repeat what their texts say. */
const REPEATED = /_(?:params|codes)$/

/** A copy of an answer with bounded texts and lists; `shortened` says whether something is missing. */
export function boundedResult(answer: unknown): { result: unknown; shortened: boolean } {
  let shortened = false
  const bound = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const text = value.replaceAll(FORMS, '').replaceAll(HIDDEN, '\ufffd')
      if (text.length <= TEXT_CHARS) return text
      shortened = true
      return `${text.slice(0, TEXT_CHARS).replace(/[\ud800-\udbff]$/, '')} [shortened]`
    }
    if (Array.isArray(value)) {
      if (value.length > MAX_ITEMS) shortened = true
      return value.slice(0, MAX_ITEMS).map(bound)
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, one]) => (REPEATED.test(name) ? [] : [[bound(name), bound(one)]])),
    )
  }
  return { result: bound(answer), shortened }
}

/** The text of a result, or undefined when it is too long even so. */
export function resultText(answer: unknown): string | undefined {
  const { result, shortened } = boundedResult(answer)
  const text = JSON.stringify(shortened ? { shortened, ...(result as object) } : result)
  return text.length > RESULT_CHARS ? undefined : text
}

/** What makes a result smaller, by the name of the input. */
const SMALLER: Readonly<Record<string, string>> = {
  limit: 'fewer items (limit)',
  recipient: 'one recipient (recipient)',
  since: 'a shorter time (since, until)',
}

/** The refusal of a result that is too long, for a tool with these inputs. */
export function adviceOnSize(inputs: readonly string[]): string {
  const ways = inputs.flatMap(name => SMALLER[name] ?? [])
  return ways.length > 0
    ? `The result is too large. Ask for ${ways.join(' or ')}.`
    : 'The result is too large, and this tool cannot show a part of it. The panel and the HTTP API show all of it.'
}
