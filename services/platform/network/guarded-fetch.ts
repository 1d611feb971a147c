/** Requests to addresses that users choose: only into the public internet, over TLS, without redirects, never for long. */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { RequestInit, Response } from 'undici'
import { inEnglish, type Sentence, SentenceError, sentence } from '../sentences/sentence.ts'
import { VERSION } from '../version.ts'
import { isLoopback, isPublicAddress } from './public-address.ts'

/** A request that is sent. */
export interface GuardedRequest {
  url: string
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer>
  timeoutMs: number
  /** Bytes of the response that are read; a longer response is an error. Default 0: the response is not read. */
  maxAnswerBytes?: number
  /** Bytes of the response that are kept, for a log: the rest is not read, and what does not arrive soon is left out. */
  keepAnswerBytes?: number
}

/** The answer; `text` is empty where neither `maxAnswerBytes` nor `keepAnswerBytes` was given. */
export interface GuardedAnswer {
  status: number
  text: string
  /** In the order of the response; values of one name are separate. */
  headers?: readonly (readonly [string, string])[]
  /** `text` is only the beginning of the response. */
  isCut?: boolean
}

/** Where requests may go besides the public internet: nowhere, to this machine (a trial), or anywhere. */
export type AllowPrivate = boolean | 'loopback'

/** Posts; resolves with any answer, rejects when there is none or when the target is not allowed. */
export type GuardedPost = (request: GuardedRequest) => Promise<GuardedAnswer>

/** Why an address that a user chose is not called. */
export type TargetError = 'tls_required' | 'url_login' | 'private_address'

/** Time for the kept beginning of a response, whose status is known by then. */
const KEEP_MS = 3_000

/**
 * What is wrong with an http(s) URL as a target, as far as the URL alone shows it; undefined when nothing is. Host names
 * are checked when the connection is made.
 */
export function findTargetError(
  url: string,
  { allowPrivate }: { allowPrivate: AllowPrivate },
): TargetError | undefined {
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'url_login'
  if (allowPrivate === true) return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  const isLocalName = /(?:^|\.)localhost\.?$/.test(host)
  if (allowPrivate === 'loopback' && (isLocalName || isLoopback(host))) return undefined
  const isPrivate = isIP(host) === 0 ? isLocalName : !isPublicAddress(host)
  if (isPrivate) return 'private_address'
  return protocol === 'https:' ? undefined : 'tls_required'
}

/** The reasons as sentences. */
export const TARGET_ERRORS: Readonly<Record<TargetError, (url: URL) => Sentence>> = {
  url_login: () => sentence('webhook.url_login'),
  private_address: ({ hostname }) => sentence('webhook.private_address', { host: hostname }),
  tls_required: ({ protocol }) => sentence('webhook.tls_required', { protocol }),
}

/** Resolves a name; that of `node:dns`, or of a test. */
export type Lookup = typeof lookup

/**
 * Names are resolved for each connection, and the connection goes to an address that was checked: a name that resolves
 * to another address afterwards leads nowhere else.
 */
function guardedLookup(resolve: Lookup, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const usable = error ? [] : found.filter(({ address }) => allowed(address))
      const [first] = usable
      const refused = () => new SentenceError(sentence('webhook.no_public_address', { host: hostname }))
      if (!first) return done(error ?? refused(), '', 4)
      return options.all ? done(null, usable) : done(null, first.address, first.family)
    })
  }
}

/** The `fetch` of undici, without a choice of its dispatcher. */
export type GuardedFetch = (url: string, init: Omit<RequestInit, 'dispatcher'>) => Promise<Response>

/**
 * Connects to allowed addresses only, over a pool of its own. undici is loaded by the first call: it takes 12 MiB, and
 * most processes of most installations call no address of a user.
 */
export function guardedFetch(allowPrivate: AllowPrivate, resolve: Lookup = lookup, ca?: string): GuardedFetch {
  const allowed = (address: string) =>
    allowPrivate === true || isPublicAddress(address) || (allowPrivate === 'loopback' && isLoopback(address))
  const load = async () => {
    const { Agent, fetch } = await import('undici')
    const connect = { lookup: guardedLookup(resolve, allowed), ...(ca !== undefined && { ca }) }
    return { fetch, dispatcher: new Agent({ connect }) }
  }
  let loaded: ReturnType<typeof load> | undefined
  return async (url, init) => {
    // A load that failed, for want of file descriptors, is repeated.
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    const { fetch, dispatcher } = await loaded
    return fetch(url, { ...init, dispatcher })
  }
}

/** Creates a guarded post. With `allowPrivate` all addresses and plain HTTP are allowed, or those of this machine. */
export function createGuardedPost({
  allowPrivate,
  resolve = lookup,
  ca,
}: {
  allowPrivate: AllowPrivate
  resolve?: Lookup
  /** Certificate authorities instead of the usual ones, in tests. */
  ca?: string | undefined
}): GuardedPost {
  const guarded = guardedFetch(allowPrivate, resolve, ca)
  return async ({ url, headers, body, timeoutMs, maxAnswerBytes = 0, keepAnswerBytes = 0 }) => {
    const wrong = findTargetError(url, { allowPrivate })
    if (wrong) throw new SentenceError(TARGET_ERRORS[wrong](new URL(url)))
    const response = await guarded(url, {
      method: 'POST',
      headers: { 'user-agent': USER_AGENT, ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status } = response
    if (maxAnswerBytes > 0) return { status, text: await readAnswer(response, maxAnswerBytes) }
    if (keepAnswerBytes > 0)
      return { status, headers: [...response.headers], ...(await keepAnswer(response, keepAnswerBytes)) }
    await response.body?.cancel()
    return { status, text: '' }
  }
}

/** What requests call themselves. */
export const USER_AGENT = `Postwright/${VERSION}`

/** The beginning of a response, as far as it arrives soon. */
async function keepAnswer(response: Response, limit: number): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.getReader()
  if (!reader) return { text: '', isCut: false }
  const chunks: Uint8Array[] = []
  let size = 0
  const late = setTimeout(() => void reader.cancel().catch(() => undefined), KEEP_MS)
  const read = async () => {
    while (size <= limit) {
      const { done, value } = await reader.read()
      if (done) return true
      chunks.push(value)
      size += value.length
    }
    return false
  }
  const startedAt = performance.now()
  const isComplete = await read().catch(() => false)
  clearTimeout(late)
  await reader.cancel().catch(() => undefined)
  const text = Buffer.concat(chunks).subarray(0, limit).toString('utf8')
  return { text, isCut: !isComplete || size > limit || performance.now() - startedAt >= KEEP_MS }
}

async function readAnswer(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > limit) throw new SentenceError(sentence('webhook.answer_too_long', { bytes: limit }))
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Codes of Node and OpenSSL for a certificate or handshake that failed. */
const TLS_CODE = /CERT|^ERR_(?:SSL|TLS)|^EPROTO$|SIGNATURE|_CRL|HOSTNAME_MISMATCH|INVALID_CA|CHAIN_TOO_LONG/

/** Why a {@link GuardedPost} was rejected, for whoever set the address up. */
export function failureOf(error: unknown): Sentence {
  if (error instanceof Error && error.name === 'TimeoutError') return sentence('webhook.timeout')
  // fetch hides the reason in the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof SentenceError) return cause.sentence
  if (!(cause instanceof Error)) return sentence('webhook.connection', { error: short(String(cause)) })
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  if (TLS_CODE.test(code)) return sentence('webhook.tls', { error: `${short(cause.message)} (${code})` })
  return sentence('webhook.connection', { error: short(cause.message || code || cause.name) })
}

/** The same in English. */
export function failureText(error: unknown): string {
  return inEnglish(failureOf(error))
}

const MAX_ERROR = 150
const short = (text: string) => text.trim().slice(0, MAX_ERROR)
