/** The `tag=value; tag=value` lists of DKIM and DMARC (RFC 6376 3.2). */

/**
 * The tags in order, names in lower case, values trimmed. Undefined when an entry has no `=` or a tag occurs twice:
 * receivers ignore such a list as a whole.
 */
export function parseTagList(text: string): Map<string, string> | undefined {
  const tagList = new Map<string, string>()
  for (const part of text.split(';')) {
    if (part.trim() === '') continue
    const match = /^\s*(?<name>[a-z]\w*)\s*=(?<value>[\s\S]*)$/i.exec(part)
    const name = match?.groups?.name?.toLowerCase()
    if (!match?.groups || name === undefined || tagList.has(name)) return undefined
    tagList.set(name, (match.groups.value ?? '').trim())
  }
  return tagList
}
