/** Takes the PROXY header off a fresh connection, so that what follows finds the client's own octets. */
import type { Socket } from 'node:net'
import { readProxyHeader } from './rules/proxy-header.ts'

/** Who the connection is from; empty when the balancer speaks for itself. */
export interface ProxySource {
  address?: string
  port?: number
}

/** Reads the header within `ms`. Rejects when there is none; the caller destroys the socket. */
export function takeProxyHeader(socket: Socket, ms: number): Promise<ProxySource> {
  return new Promise((resolve, reject) => {
    let octets = Buffer.alloc(0)
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      socket.off('readable', read).off('close', gone).off('error', gone)
      settle()
    }
    const fail = (reason: string) => finish(() => reject(new Error(reason)))
    const gone = () => fail('the connection ended within the PROXY header')
    const timer = setTimeout(() => fail('no PROXY header in time'), ms)
    const read = () => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read())
        octets = Buffer.concat([octets, chunk])
      const header = readProxyHeader(octets)
      if (header.kind === 'error') return fail(header.reason)
      if (header.kind === 'more') return undefined
      const rest = octets.subarray(header.length)
      if (rest.length > 0) socket.unshift(rest)
      return finish(() => resolve(header.source ?? {}))
    }
    socket.on('readable', read).on('close', gone).on('error', gone)
  })
}
