/** Request signature of Tencent Cloud's API 3.0 (TC3-HMAC-SHA256). */
import { hmac, sha256 } from '../request-signing.ts'

/** What is signed. `body` are the exact bytes that are sent. */
export interface TencentRequest {
  host: string
  service: string
  contentType: string
  body: string
  /** Seconds since 1970; the date of the scope follows from it, in UTC. */
  timestamp: number
}

/** The value of the header Authorization. */
export function signTencent(request: TencentRequest, secretId: string, secretKey: string): string {
  const date = new Date(request.timestamp * 1000).toISOString().slice(0, 10)
  const scope = `${date}/${request.service}/tc3_request`
  const signedHeaders = 'content-type;host'
  const headers = `content-type:${request.contentType}\nhost:${request.host}\n`
  const canonical = ['POST', '/', '', headers, signedHeaders, sha256(request.body)].join('\n')
  const text = ['TC3-HMAC-SHA256', String(request.timestamp), scope, sha256(canonical)].join('\n')
  const key = [date, request.service, 'tc3_request'].reduce<string | Buffer>(hmac, `TC3${secretKey}`)
  const signature = hmac(key, text).toString('hex')
  return `TC3-HMAC-SHA256 Credential=${secretId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
}
