/** A GET from a host that the caller has resolved: it connects to no other address and follows no redirect. */
import { isIP, type LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

/** What is fetched, and from where. */
export interface GetFromAddresses {
  url: string
  /** Where to connect to. */
  addresses: readonly string[]
  headers?: Record<string, string>
  /** For everything, in milliseconds. */
  timeoutMs: number
  /** A longer body is an error. */
  maxBytes: number
  tls?: Pick<ConnectionOptions, 'ca' | 'checkServerIdentity'>
}

/** An answer; `text` is empty unless the status is 200. */
export interface TextAnswer {
  status: number
  /** Media type in lower case, without parameters; empty without one. */
  type: string
  text: string
}

/** Rejects when there is no answer. undici is loaded by the first call: it takes 12 MiB, and few processes get this far. */
export async function getFromAddresses(request: GetFromAddresses): Promise<TextAnswer> {
  const { url, addresses, headers = {}, timeoutMs, maxBytes, tls } = request
  const undici = await import('undici')
  const dispatcher = new undici.Agent({
    connect: { lookup: fixedLookup(addresses), ...tls },
    maxResponseSize: maxBytes,
  })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await undici.request(url, { dispatcher, signal, headers })
    const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? ''
    const text = answer.statusCode === 200 ? await answer.body.text() : ''
    return { status: answer.statusCode, type: type.trim().toLowerCase(), text }
  } finally {
    await dispatcher.destroy()
  }
}

function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map(address => ({ address, family: isIP(address) }))
  return (_host, { all }, done) => {
    const [first] = found
    return all || !first ? done(null, found) : done(null, first.address, first.family)
  }
}
