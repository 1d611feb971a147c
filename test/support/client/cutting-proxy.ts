/** Forwards TCP connections to a server, and cuts all of them when a test says so. */
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listen } from '../../../services/platform/network/listen.ts'

/** Starts it in front of this address; it ends with the test. */
export async function cuttingProxy(target: string) {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    const onward = connect(Number(targetPort), hostname)
    for (const one of [socket, onward]) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        onward.destroy()
      })
    }
    socket.pipe(onward).pipe(socket)
  })
  const port = await listen(server, 0, '127.0.0.1', 'PORT')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  return { url: `http://127.0.0.1:${port}`, cut }
}
