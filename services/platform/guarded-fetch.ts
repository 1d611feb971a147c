/** Requests to addresses that users choose: only into the public internet, without redirects, never for long. */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch } from 'undici'
import { isPublicAddress } from './public-address.ts'

/** A request that is sent. */
export interface GuardedRequest {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

/** Posts; resolves with the status, rejects when nobody answers, or when the address is not public. */
export type GuardedPost = (request: GuardedRequest) => Promise<number>

/** The address is judged when the connection is made, so that a name cannot point elsewhere in between. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const usable = error ? [] : found.filter(({ address }) => isPublicAddress(address))
    const [first] = usable
    if (!first) return done(error ?? new Error(`${hostname} has no public address`), '', 4)
    return options.all ? done(null, usable) : done(null, first.address, first.family)
  })
}

/** Makes one; with `allowPrivate` every address is good. */
export function createGuardedPost({ allowPrivate }: { allowPrivate: boolean }): GuardedPost {
  const agent = new Agent({ connect: allowPrivate ? {} : { lookup: publicLookup } })
  return async ({ url, headers, body, timeoutMs }) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw new Error(`${host} is not a public address`)
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal, dispatcher: agent })
    await response.body?.cancel()
    return response.status
  }
}
