/** Requests to addresses that users choose: only into the public internet, over TLS, without redirects, never for long. */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch, type Response } from 'undici'
import { VERSION } from '../version.ts'
import { isPublicAddress } from './public-address.ts'

/** A request that is sent. */
export interface GuardedRequest {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
  /** Bytes of the response that are read; a longer response is an error. Default 0: the response is not read. */
  maxAnswerBytes?: number
}

/** The answer; `text` is empty where `maxAnswerBytes` was not given. */
export interface GuardedAnswer {
  status: number
  text: string
}

/** Posts; resolves with any answer, rejects when there is none or when the target is not allowed. */
export type GuardedPost = (request: GuardedRequest) => Promise<GuardedAnswer>

/** Why an address that a user chose is not called. */
export type TargetError = 'tls_required' | 'url_login' | 'private_address'

/** The setting that allows plain HTTP and private addresses. */
const SETTING = 'WEBHOOK_ALLOW_PRIVATE=true'
const allows = (what: string) => `${what}; the setting ${SETTING} allows it`

/**
 * What is wrong with an http(s) URL as a target, as far as the URL alone shows it; undefined when nothing is. Host names
 * are checked when the connection is made.
 */
export function findTargetError(url: string, { allowPrivate }: { allowPrivate: boolean }): TargetError | undefined {
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'url_login'
  if (allowPrivate) return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  const isPrivate = isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host)
  if (isPrivate) return 'private_address'
  return protocol === 'https:' ? undefined : 'tls_required'
}

const TARGET_ERRORS: Readonly<Record<TargetError, (url: URL) => string>> = {
  url_login: () => 'the address contains a user name or password',
  private_address: ({ hostname }) => allows(`${hostname} is not a public address`),
  tls_required: ({ protocol }) => allows(`${protocol}// is not encrypted`),
}

/** The address is checked when the connection is made, so that a DNS change cannot redirect it afterwards. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const usable = error ? [] : found.filter(({ address }) => isPublicAddress(address))
    const [first] = usable
    if (!first) return done(error ?? new Error(allows(`${hostname} has no public address`)), '', 4)
    return options.all ? done(null, usable) : done(null, first.address, first.family)
  })
}

/** Creates a guarded post. With `allowPrivate` all addresses and plain HTTP are allowed. */
export function createGuardedPost({ allowPrivate }: { allowPrivate: boolean }): GuardedPost {
  const agent = new Agent({ connect: allowPrivate ? {} : { lookup: publicLookup } })
  return async ({ url, headers, body, timeoutMs, maxAnswerBytes = 0 }) => {
    const wrong = findTargetError(url, { allowPrivate })
    if (wrong) throw new Error(TARGET_ERRORS[wrong](new URL(url)))
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'user-agent': `Postwright/${VERSION}`, ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      dispatcher: agent,
    })
    if (maxAnswerBytes > 0) return { status: response.status, text: await readAnswer(response, maxAnswerBytes) }
    await response.body?.cancel()
    return { status: response.status, text: '' }
  }
}

async function readAnswer(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > limit) throw new Error(`the answer has more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Codes of Node and OpenSSL for a certificate or handshake that failed. */
const TLS_CODE = /CERT|^ERR_(?:SSL|TLS)|^EPROTO$|SIGNATURE|_CRL|HOSTNAME_MISMATCH|INVALID_CA|CHAIN_TOO_LONG/

/** Why a {@link GuardedPost} was rejected, in one sentence for whoever set the address up. */
export function failureText(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  // fetch hides the reason in the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return TLS_CODE.test(code) ? `TLS failed: ${cause.message.trim()} (${code})` : cause.message
}
