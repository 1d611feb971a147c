/** Request signature of Aliyun's OpenAPI, version 3 (ACS3-HMAC-SHA256). */
import { canonicalQuery, hmac, sha256 } from '../request-signing.ts'

/** What is signed. */
export interface AliyunRequest {
  method: string
  host: string
  /** Parameters go into the query, also with POST. */
  query: Record<string, string>
  headers: Record<string, string>
  body: string
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
  const signature = hmac(keySecret, `ACS3-HMAC-SHA256\n${sha256(canonical)}`).toString('hex')
  return `ACS3-HMAC-SHA256 Credential=${keyId},SignedHeaders=${names.join(';')},Signature=${signature}`
}
