/** The header fields by which recipients leave a list (RFC 2369, RFC 8058): reading those of a message, writing ours. */
import { type HeaderField, unfold } from '../../message/headers.ts'

/**
 * What a submitted message has of its own. `one_click`: all that RFC 8058 asks of the sender; `incomplete`: some of it;
 * `none`: nothing.
 */
export type OwnUnsubscribe = 'none' | 'one_click' | 'incomplete'

/** Section 3.1 of RFC 8058 allows this value only. */
const ONE_CLICK = 'List-Unsubscribe=One-Click'
const HTTPS = /<\s*https:\/\/[^<>\s]+\s*>/i

/** Reads List-Unsubscribe and List-Unsubscribe-Post; each is there at most once. */
export function readOwnUnsubscribe(fields: readonly HeaderField[]): OwnUnsubscribe {
  const textOf = (name: string) => {
    const field = fields.find(one => one.name === name && !one.removed)
    return field && unfold(field.value).trim()
  }
  const addresses = textOf('list-unsubscribe')
  const post = textOf('list-unsubscribe-post')
  if (addresses === undefined && post === undefined) return 'none'
  const isComplete = HTTPS.test(addresses ?? '') && post?.toLowerCase() === ONE_CLICK.toLowerCase()
  return isComplete ? 'one_click' : 'incomplete'
}

/** Addresses by which a recipient leaves a list. */
export interface UnsubscribeAddresses {
  /** Takes a POST without any further question. */
  url: string
  /** Takes an empty mail. */
  mailto?: string | undefined
}

/** Both fields as name and value. Without https there is no one-click (section 3.1), and the link only opens a page. */
export function unsubscribeFields({ url, mailto }: UnsubscribeAddresses): [name: string, value: string][] {
  const addresses = [`<${url}>`, ...(mailto === undefined ? [] : [`<mailto:${mailto}>`])]
  const field: [string, string] = ['List-Unsubscribe', addresses.join(',\r\n ')]
  return url.startsWith('https:') ? [field, ['List-Unsubscribe-Post', ONE_CLICK]] : [field]
}
