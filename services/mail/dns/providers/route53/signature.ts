/** Request signature of AWS, version 4 (AWS4-HMAC-SHA256). */
import { hmac, sha256 } from '../request-signing.ts'

/** Keys of a user, or temporary ones of a role with a session token. */
export interface AwsKeys {
  id: string
  secret: string
  token?: string
}

/** What is signed. `query` is sorted and encoded, as it is sent. */
export interface AwsRequest {
  method: string
  host: string
  path: string
  query: string
  body: string
  region: string
  service: string
  /** Headers beside those of the signature, in lower case. */
  headers?: Readonly<Record<string, string>>
}

/** The headers to send; `host` is among the signed ones and is sent by the HTTP client. */
export function signAws(request: AwsRequest, keys: AwsKeys, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': time,
    ...(keys.token === undefined ? {} : { 'x-amz-security-token': keys.token }),
  }
  const signed: Record<string, string> = { ...headers, host: request.host }
  const names = Object.keys(signed).toSorted()
  const canonical = [
    request.method,
    request.path,
    request.query,
    ...names.map(name => `${name}:${signed[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    sha256(request.body),
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${request.region}/${request.service}/aws4_request`
  const key = scope.split('/').reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${keys.secret}`)
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...headers, authorization }
}
