/**
 * HTTP servers that stop without losing a request (ADR 64): what is being answered is finished, every answer
 * ends its connection, and a connection without a request is closed only after a moment of silence.
 */
import type { RequestListener, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { listen } from '../network/listen.ts'
import { createServer } from '../network/node-http.ts'

/** Where and what to serve. */
export interface HttpServerOptions {
  port: number
  host: string
  /** Name of the setting that chose the port, for error messages. */
  setting: string
  /** From its abort on every answer has `Connection: close`, so that clients go elsewhere with their next request. */
  closing?: AbortSignal | undefined
  /** How long a stop waits for requests that are being answered, in milliseconds. */
  graceMs?: number
}

/** A server that listens. */
export interface HttpServer {
  port: number
  server: Server
  /** Closes the listener, finishes what is being answered, then closes every connection. */
  stop(): Promise<void>
}

/** Same as for SMTP sessions: shorter than the grace period of the chart's pods. */
const GRACE_MS = 25_000
/**
 * A connection is silent after this many checks without new bytes: half a second, or more when the process is busy. A
 * client that pipelines requests is not silent for so long; an earlier close could cut its next request. Checks are
 * counted instead of time, because all received data is read between two checks.
 */
const SILENT_LOOKS = 10
const LOOK_MS = 50

/** What is known of a connection. */
interface Connection {
  /** Requests that are being answered. */
  busy: number
  /** Checks since the last bytes. */
  silent: number
  /** Bytes read up to then: more of them are a request on its way. */
  read: number
}

/** Serves on APP_HOST and a port. Rejects when the port cannot be bound. */
export async function serveHttp(handler: RequestListener, options: HttpServerOptions): Promise<HttpServer> {
  const connections = new Map<Socket, Connection>()
  const answering = new Set<ServerResponse>()
  let draining = false
  const drain = () => {
    draining = true
    for (const response of answering) response.shouldKeepAlive = false
  }
  const server = createServer((request, response) => {
    track(connections.get(request.socket), request.socket, response, answering)
    if (draining) response.shouldKeepAlive = false
    handler(request, response)
  })
  server.on('connection', socket => {
    connections.set(socket, { busy: 0, silent: 0, read: 0 })
    socket.once('close', () => connections.delete(socket))
  })
  const port = await listen(server, options.port, options.host, options.setting)
  if (options.closing?.aborted) drain()
  options.closing?.addEventListener('abort', drain, { once: true })
  return {
    port,
    server,
    async stop() {
      // At the same moment: who hears `Connection: close` connects again, and what the kernel accepts before the listener
      // closes is reset.
      const closed = closeListener(server)
      drain()
      const deadline = performance.now() + (options.graceMs ?? GRACE_MS)
      const look = () => {
        const late = performance.now() >= deadline
        for (const [socket, connection] of connections) if (isSilent(socket, connection) || late) socket.destroy()
      }
      const looking = setInterval(() => setImmediate(look), LOOK_MS)
      await closed
      clearInterval(looking)
      options.closing?.removeEventListener('abort', drain)
    },
  }
}

/** Notes a request and its end. */
function track(
  connection: Connection | undefined,
  socket: Socket,
  response: ServerResponse,
  answering: Set<ServerResponse>,
): void {
  if (!connection) return
  connection.busy++
  answering.add(response)
  response.once('close', () => {
    answering.delete(response)
    connection.busy--
    connection.silent = 0
    connection.read = socket.bytesRead
  })
}

/** Checks a connection once. */
function isSilent({ bytesRead }: Socket, connection: Connection): boolean {
  connection.silent = connection.busy === 0 && connection.read === bytesRead ? connection.silent + 1 : 0
  connection.read = bytesRead
  return connection.silent >= SILENT_LOOKS
}

/**
 * Accepts no more connections; resolves when the existing ones have ended. The method of HTTP servers would destroy
 * idle connections immediately, with requests in transit.
 */
function closeListener(server: Server): Promise<void> {
  return new Promise(resolve => {
    NetServer.prototype.close.call(server, () => resolve())
  })
}
