/** Request signature of Aliyun's OpenAPI, version 3 (ACS3-HMAC-SHA256). */
import { createHash, createHmac } from 'node:crypto'

/** What is signed. */
export interface AliyunRequest {
  method: string
  host: string
  /** Parameters go into the query, also with POST. */
  query: Record<string, string>
  headers: Record<string, string>
  body: string
}

/** RFC 3986 encoding, which JavaScript's own leaves five characters short of. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The query as it is signed and sent: sorted by name. */
export function canonicalQuery(query: Record<string, string>): string {
  return Object.keys(query)
    .toSorted()
    .map(name => `${percentEncode(name)}=${percentEncode(query[name] ?? '')}`)
    .join('&')
}

/** The value of the header Authorization. `headers` in lower case, with `host` and every `x-acs-*` header. */
export function signAliyun(request: AliyunRequest, keyId: string, keySecret: string): string {
  const names = Object.keys(request.headers).toSorted()
  const canonical = [
    request.method,
    '/',
    canonicalQuery(request.query),
    ...names.map(name => `${name}:${request.headers[name]?.trim()}`),
    '',
    names.join(';'),
    sha256(request.body),
  ].join('\n')
  const signature = createHmac('sha256', keySecret)
    .update(`ACS3-HMAC-SHA256\n${sha256(canonical)}`)
    .digest('hex')
  return `ACS3-HMAC-SHA256 Credential=${keyId},SignedHeaders=${names.join(';')},Signature=${signature}`
}

/** Hex SHA-256. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
