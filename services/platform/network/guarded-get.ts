/** Fetches what users name by its address: from the public internet only, bounded in bytes, time and redirects. */
import type { Response } from 'undici'
import { SentenceError } from '../sentences/sentence.ts'
import {
  type AllowPrivate,
  findTargetError,
  guardedFetch,
  type Lookup,
  TARGET_ERRORS,
  USER_AGENT,
} from './guarded-fetch.ts'

/** What is fetched. */
export interface GuardedGetRequest {
  url: string
  /** For everything, redirects included. */
  timeoutMs: number
  /** Called with the size of each piece that arrives; an error that it throws ends the transfer. */
  count(bytes: number): void
}

/** A complete answer; one that is no success has no bytes. */
export interface Fetched {
  status: number
  bytes: Buffer
}

/** Gets; rejects when there is no answer or when an address, also of a redirect, is not allowed. */
export type GuardedGet = (request: GuardedGetRequest) => Promise<Fetched>

/** Addresses of files often lead to another host. */
const MAX_REDIRECTS = 3

/** Creates a guarded get. Plain HTTP is allowed: what is fetched is no secret of ours. */
export function createGuardedGet({
  allowPrivate,
  resolve,
}: {
  allowPrivate: AllowPrivate
  resolve?: Lookup
}): GuardedGet {
  const guarded = guardedFetch(allowPrivate, resolve)
  const get = async (url: string, signal: AbortSignal, redirects: number): Promise<Response> => {
    const wrong = findTargetError(url, { allowPrivate })
    if (wrong && wrong !== 'tls_required') throw new SentenceError(TARGET_ERRORS[wrong](new URL(url)))
    const response = await guarded(url, {
      headers: { 'user-agent': USER_AGENT },
      redirect: 'manual',
      signal,
    })
    const location = response.headers.get('location')
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null
    if (!isRedirect || redirects === 0 || !URL.canParse(location, url)) return response
    await response.body?.cancel()
    const next = new URL(location, url)
    return /^https?:$/.test(next.protocol) ? get(next.href, signal, redirects - 1) : response
  }
  return async ({ url, timeoutMs, count }) => {
    const response = await get(url, AbortSignal.timeout(timeoutMs), MAX_REDIRECTS)
    if (!response.ok) {
      await response.body?.cancel().catch(() => undefined)
      return { status: response.status, bytes: Buffer.alloc(0) }
    }
    return { status: response.status, bytes: await readAll(response, count) }
  }
}

async function readAll(response: Response, count: (bytes: number) => void): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  // A header that promises too much ends the transfer at once.
  const promised = Number(response.headers.get('content-length') ?? 0)
  const isPlain = response.headers.get('content-encoding') === null
  try {
    // A length beyond all limits must be counted, too: what was promised is not counted again as it arrives.
    if (isPlain) count(Number.isSafeInteger(promised) ? promised : Number.POSITIVE_INFINITY)
    let beyond = isPlain ? promised : 0
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      const counted = Math.min(beyond, chunk.length)
      beyond -= counted
      count(chunk.length - counted)
      chunks.push(chunk)
    }
  } catch (error) {
    await response.body?.cancel().catch(() => undefined)
    throw error
  }
  return Buffer.concat(chunks)
}
