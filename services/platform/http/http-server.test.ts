import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/support/time/until.ts'
import { type HttpServerOptions, serveHttp } from './http-server.ts'

/** A server, and clients on plain sockets that check each byte. */
async function serve(handler: RequestListener, options: Partial<HttpServerOptions> = {}) {
  const server = await serveHttp(handler, { port: 0, host: '127.0.0.1', setting: 'APP_PORT', ...options })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= server.stop()
    return stopped
  }
  onTestFinished(stop)
  const open = async () => {
    const socket = connect(server.port, '127.0.0.1')
    const client = { heard: '', ended: false, failed: '', write: (text: string) => socket.write(text) }
    socket.on('data', chunk => {
      client.heard += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      client.failed = error.code ?? error.message
    })
    socket.on('close', () => {
      client.ended = true
    })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return client
  }
  const refuses = () => expect(open()).rejects.toThrow('ECONNREFUSED')
  return { server, stop, open, refuses }
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
/** Responds immediately with `ok`. */
const ok: RequestListener = (_, response) => response.end('ok')
/** Responds when the test allows it. */
function slow() {
  const waiting: (() => void)[] = []
  const handler: RequestListener = (_, response) => void waiting.push(() => response.end('done'))
  return { handler, waiting }
}

test('a request in flight is answered, with the end of its connection, and the stop waits for it', async () => {
  const { handler, waiting } = slow()
  const { stop, open, refuses } = await serve(handler)
  const client = await open()
  client.write(GET)
  await until(() => waiting.length === 1)
  let over = false
  const stopping = stop().then(() => {
    over = true
  })
  await refuses()
  expect(over).toBe(false)
  waiting[0]?.()
  await until(() => client.ended)
  expect(client.heard).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*done$/i)
  expect(client.failed).toBe('')
  await stopping
})

test('a pipelining client gets its next request answered on the same connection', async () => {
  const { stop, open, refuses } = await serve(ok)
  const client = await open()
  client.write(GET)
  await until(() => client.heard.endsWith('ok'))
  expect(client.heard).toMatch(/connection: keep-alive/i)
  client.heard = ''
  const stopping = stop()
  await refuses()
  client.write(GET)
  await until(() => client.ended)
  expect(client.heard).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*ok$/i)
  expect(client.failed).toBe('')
  await stopping
})

test('a request whose head arrives in pieces is answered', async () => {
  const { stop, open, refuses } = await serve(ok)
  const client = await open()
  const stopping = stop()
  await refuses()
  for (const piece of ['GET / HT', 'TP/1.1\r\n', 'Host: a\r\n', '\r\n']) client.write(piece)
  await until(() => client.ended)
  expect(client.heard).toMatch(/connection: close/i)
  await stopping
})

test('silent connections do not hold up a stop', async () => {
  const { stop, open } = await serve(ok)
  const clients = await Promise.all([open(), open(), open()])
  clients[0]?.write(GET)
  clients[1]?.write('GET / HTTP/1.1\r\nHost:') // and no more
  await until(() => clients[0]?.heard.endsWith('ok') ?? false)
  const started = performance.now()
  await stop()
  expect(performance.now() - started).toBeLessThan(5_000)
  await until(() => clients.every(({ ended }) => ended))
})

test('an answer that never ends is cut after the grace', async () => {
  const { handler, waiting } = slow()
  const { stop, open } = await serve(handler, { graceMs: 200 })
  const client = await open()
  client.write(GET)
  await until(() => waiting.length === 1)
  await stop()
  await until(() => client.ended)
  expect(client.heard).toBe('')
})

test('from the signal on every answer ends its connection, while the listener is still open', async () => {
  const closing = new AbortController()
  const { handler, waiting } = slow()
  const { open } = await serve(handler, { closing: closing.signal })
  const early = await open()
  early.write(GET)
  await until(() => waiting.length === 1)
  closing.abort()
  const late = await open()
  late.write(GET)
  await until(() => waiting.length === 2)
  for (const answer of waiting) answer()
  for (const client of [early, late]) {
    await until(() => client.ended)
    expect(client.heard).toMatch(/connection: close\r\n[\s\S]*done$/i)
  }
})

test('a stream whose head is out ends in order, and its connection with it', async () => {
  let end = () => {}
  const { stop, open } = await serve((_, response) => {
    response.write('first ')
    end = () => response.end('last')
  })
  const client = await open()
  client.write(GET)
  await until(() => client.heard.includes('first'))
  const stopping = stop()
  end()
  await stopping
  await until(() => client.ended)
  expect(client.heard).toMatch(/last\r\n0\r\n\r\n$/)
})

test('a port that is taken is named with its setting', async () => {
  const { server } = await serve(ok)
  const again = serveHttp(ok, { port: server.port, host: '127.0.0.1', setting: 'APP_PORT' })
  await expect(again).rejects.toThrow(
    `port ${server.port} on 127.0.0.1 is taken; stop the other program or set APP_PORT`,
  )
})
