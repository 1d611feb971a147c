/** Which links of a message are tracked, and what a browser would request for each. */

/** Longest address that is tracked, in characters: programs of receivers cut longer ones. */
export const MAX_TARGET = 2_048

/** Addresses that stay as they are: those that recipients leave a list by, and what is a link of ours already. */
export interface UntrackedLinks {
  urls: ReadonlySet<string>
  prefixes: readonly string[]
}

/**
 * The address as browsers normalise it, so that a redirect leads where the link would have; undefined for what is not
 * tracked. Browsers encode a query in the charset of its page: outside of UTF-8 that is not repeated here.
 */
export function targetOf(value: string, isUtf8: boolean, untracked: UntrackedLinks): string | undefined {
  if (!/^[\s\p{Cc}]*https?:/iu.test(value) || value.length > MAX_TARGET) return undefined
  const query = value.indexOf('?')
  if (!isUtf8 && query >= 0 && /\P{ASCII}/u.test(value.slice(query))) return undefined
  const url = URL.parse(value)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.href.length > MAX_TARGET) return undefined
  // A login in a link is for deceiving readers; a redirect must not hide it.
  if (url.username !== '' || url.password !== '') return undefined
  if (untracked.urls.has(url.href) || untracked.prefixes.some(prefix => url.href.startsWith(prefix))) return undefined
  return url.href
}
