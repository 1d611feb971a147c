/** The common part of TCP servers for tests. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A listening server. */
export interface TcpServer {
  port: number
  /** Connections until now. */
  connections(): number
  /** Closes all connections and the server. */
  stop(): Promise<void>
}

/** Listens; `serve` gets each connection with its number, from 1. */
export async function startTcpServer(
  serve: (socket: Socket, number: number) => void,
  { port = 0, host = '127.0.0.1' }: { port?: number | undefined; host?: string | undefined } = {},
): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serve(socket, ++count)
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
