/** What the request signatures of Aliyun, AWS and Tencent Cloud share. */
import { createHash, createHmac } from 'node:crypto'

/** A query as it is signed and sent: sorted by name, encoded as in RFC 3986. */
export function canonicalQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.keys(parameters)
    .toSorted()
    .map(name => `${percentEncode(name)}=${percentEncode(parameters[name] ?? '')}`)
    .join('&')
}

/** RFC 3986 encoding, which JavaScript's own leaves five characters short of. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Hex SHA-256. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** HMAC-SHA256. */
export function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
