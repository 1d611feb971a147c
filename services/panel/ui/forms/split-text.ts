/** Splitting the text of a field into a list. Entries are trimmed, empty ones are dropped. */

/** Splits at line ends and commas. */
export function splitList(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(Boolean)
}

/** Splits at line ends only, for entries that may contain commas. */
export function splitLines(lines: string): string[] {
  return lines
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}

/** The domain of an address or URL that was pasted instead of it: `https://example.com/` and `hello@example.com` are example.com. */
export function domainOf(text: string): string {
  const trimmed = text.trim()
  const [, host = trimmed] = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#:]+)/i.exec(trimmed) ?? []
  const name = host === trimmed ? (trimmed.split('@').at(-1) ?? '') : host
  return name.replace(/[/?#>].*$/, '').replace(/:\d+$/, '')
}
