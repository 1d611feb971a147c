/** The canonical text of a signed request: the layout of WeChat Pay's API v3, with a body hash. */
import { createHash } from 'node:crypto'

/** The parts of a request that the signature covers. */
export interface SignedRequest {
  method: string
  /** Path with query, as sent. */
  target: string
  /** Unix seconds. */
  timestamp: string
  nonce: string
  body: string
}

/** Method, target, timestamp, nonce and the SHA-256 of the body in hex, each followed by a line feed. */
export function canonicalRequest({ method, target, timestamp, nonce, body }: SignedRequest): string {
  const digest = createHash('sha256').update(body).digest('hex')
  return `${method}\n${target}\n${timestamp}\n${nonce}\n${digest}\n`
}

/** The parts of an Authorization header of our scheme; undefined for any other header. */
export function parseSignature(
  header: string,
): { keyId: string; timestamp: string; nonce: string; signature: string } | undefined {
  const match = /^SUB-HMAC-SHA256\s+(.+)$/i.exec(header)
  if (!match?.[1]) return undefined
  const parts = new Map(
    match[1].split(',').map(part => {
      const [name = '', ...rest] = part.trim().split('=')
      return [name, rest.join('=').replace(/^"|"$/g, '')]
    }),
  )
  const [keyId, timestamp, nonce, signature] = ['key_id', 'timestamp', 'nonce', 'signature'].map(name =>
    parts.get(name),
  )
  if (!keyId || !timestamp || !nonce || !signature) return undefined
  return /^\d{1,11}$/.test(timestamp) && /^[\w.-]{8,64}$/.test(nonce) && /^[0-9a-f]{16}$/.test(keyId)
    ? { keyId, timestamp, nonce, signature }
    : undefined
}
