/**
 * What a connection passes before it may speak SMTP: the count of clients, the PROXY header of trusted balancers,
 * and on ports with implicit TLS the handshake, each with its own time.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { inNetwork } from '../../../platform/network/ip-networks.ts'
import { listen } from '../../../platform/network/listen.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { problems, problemTitle } from '../../../platform/problems.ts'
import type { ListenAddress } from '../../../platform/process/config.ts'
import type { Clients } from './open-connections.ts'
import { takeProxyHeader } from './proxy.ts'

/** Where a connection comes from: the client, not the balancer before it. */
export interface Origin {
  address: string
  port: number
}

/** Options of an {@link Entrance}. */
export interface EntranceOptions {
  log: Log
  clients: Clients
  /** The setting that names the address, for errors. */
  setting: 'SUBMISSION_LISTEN' | 'INBOUND_LISTEN'
  /** Networks that speak the PROXY protocol; from them the header is expected, from others never read. */
  proxies: readonly string[]
  /** Time for the PROXY header and for the TLS handshake, in milliseconds. */
  handshakeMs: number
  /** The certificate of this moment. */
  secureContext(): SecureContext
  /** Gets each connection that passed. */
  admit(socket: Socket | TLSSocket, origin: Origin): void
}

/** An open port. */
export interface Entrance {
  port: number
  /** Takes no more connections and drops those that have not passed; resolves when those that passed are closed too. */
  stop(): Promise<void>
  /** Drops every connection. */
  cut(): void
}

/** Binds one address of a setting. */
export async function openEntrance(address: ListenAddress, host: string, options: EntranceOptions): Promise<Entrance> {
  const open = new Set<Socket>()
  const waiting = new Set<Socket>()
  const server = createServer({ noDelay: true }, socket => {
    socket.on('error', () => undefined) // what the peer does to its side; `close` follows
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    waiting.add(socket)
    pass(socket, address.mode, options)
      .catch((error: unknown) => {
        options.log.debug({ err: error, ip: socket.remoteAddress }, 'connection dropped before SMTP')
        socket.destroy()
      })
      .finally(() => waiting.delete(socket))
  })
  const port = await listenOn(server, address, host, options.setting)
  return {
    port,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of waiting) socket.destroy()
      }),
    cut() {
      for (const socket of open) socket.destroy()
    },
  }
}

function listenOn(server: Server, address: ListenAddress, host: string, setting: string): Promise<number> {
  return listen(server, address.port, address.host ?? host, setting)
}

async function pass(socket: Socket, mode: ListenAddress['mode'], options: EntranceOptions): Promise<void> {
  const peer = socket.remoteAddress ?? ''
  const trusted = options.proxies.some(network => inNetwork(peer, network))
  const source = trusted ? await takeProxyHeader(socket, options.handshakeMs) : {}
  const origin = { address: source.address ?? peer, port: source.port ?? socket.remotePort ?? 0 }
  const leave = options.clients.enter(origin.address)
  if (!leave) {
    options.log.info({ ip: origin.address, open: options.clients.open }, 'connection refused: too many')
    return refuseClient(socket, mode)
  }
  socket.once('close', leave)
  if (socket.destroyed) return leave()
  options.admit(mode === 'tls' ? await handshake(socket, options) : socket, origin)
}

/** On a TLS port nothing can be sent before the handshake, and the handshake is the cost that a flood aims at. */
function refuseClient(socket: Socket, mode: ListenAddress['mode']): void {
  const reply = `${problems.too_many_clients.smtp} ${problemTitle('too_many_clients')}`
  if (mode === 'starttls') socket.end(`${reply}\r\n`)
  setTimeout(() => socket.destroy(), mode === 'starttls' ? 1_000 : 0).unref()
}

function handshake(socket: Socket, { secureContext, handshakeMs }: EntranceOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = new TLSSocket(socket, { isServer: true, secureContext: secureContext() })
    const timer = setTimeout(() => fail(new Error('no TLS handshake in time')), handshakeMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      secure.destroy() // from the top: pulling the socket from under a handshake crashes Node
      reject(error)
    }
    const gone = () => fail(new Error('the connection ended within the TLS handshake'))
    secure.on('error', fail).once('close', gone)
    secure.once('secure', () => {
      clearTimeout(timer)
      secure.off('close', gone)
      resolve(secure)
    })
  })
}
