/** Requests to addresses that users choose: only into the public internet, without redirects, never for long. */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, fetch } from 'undici'

/** A request that is sent. */
export interface GuardedRequest {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

/** Posts; resolves with the status, rejects when nobody answers, or when the address is not public. */
export type GuardedPost = (request: GuardedRequest) => Promise<number>

/** Documentation and benchmark ranges, which ipaddr.js counts as unicast. */
const RESERVED = [
  '198.18.0.0/15',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  '3fff::/20',
].map(range => ipaddr.parseCIDR(range))

/** True for an address on the public internet. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return !RESERVED.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits))
}

/** The address is judged when the connection is made, so that a name cannot point elsewhere in between. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const usable = error ? [] : found.filter(({ address }) => isPublic(address))
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
    if (!allowPrivate && isIP(host) !== 0 && !isPublic(host)) throw new Error(`${host} is not a public address`)
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal, dispatcher: agent })
    await response.body?.cancel()
    return response.status
  }
}
