/** The common HTTP part of the fake cloud providers: requests, injected failures and replies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeStore } from './fake-provider-zones.ts'

/** A parsed request. */
export interface FakeRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body: string
}

/** A reply: status, headers, JSON. */
export interface FakeReply {
  status: number
  json: unknown
  /** Sent instead of JSON. */
  text?: string
  headers?: Record<string, string>
}

/**
 * Fails one call. `cut`: the connection ends after the effect; `html`: a gateway answers 502 before it;
 * `throttle`: the vendor's rate limit; `hang`: no reply; `fail`: an internal error of the vendor.
 */
export interface InjectedFailure {
  operation: string
  kind: 'cut' | 'html' | 'throttle' | 'hang' | 'fail'
}

/** A running fake. */
export interface FakeCloud {
  url: string
  store: FakeStore
  /** Operations in call order. */
  calls: string[]
  /** While true, every connection is closed before any effect. */
  down: boolean
  /** Fails the next call of the operation. */
  inject(failure: InjectedFailure): void
  /** Called before each operation, for concurrent edits. */
  before: ((operation: string) => void) | undefined
  stop(): Promise<void>
}

/** How a vendor names the operation of a request, answers it, and reports a throttle and an internal failure. */
export interface FakeVendor {
  operation(request: FakeRequest): string
  handle(request: FakeRequest, operation: string): FakeReply | Promise<FakeReply>
  throttle(): FakeReply
  failure(): FakeReply
}

/** Starts a fake over a store. */
export async function startFake(store: FakeStore, vendor: FakeVendor): Promise<FakeCloud> {
  const failures: InjectedFailure[] = []
  const cloud: FakeCloud = {
    url: '',
    store,
    calls: [],
    down: false,
    inject: failure => failures.push(failure),
    before: undefined,
    stop,
  }
  const server = createServer((request, response) => {
    void read(request).then(parsed => answer(parsed, request, response))
  })
  async function answer(parsed: FakeRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = vendor.operation(parsed)
    cloud.calls.push(operation)
    if (cloud.down) return void request.socket.destroy()
    cloud.before?.(operation)
    const index = failures.findIndex(failure => failure.operation === operation)
    const failure = index >= 0 ? failures.splice(index, 1)[0]?.kind : undefined
    if (failure === 'hang') return
    if (failure === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>')
      return
    }
    const reply = await replyTo(parsed, operation, failure)
    if (failure === 'cut') request.socket.destroy()
    else send(response, reply)
  }
  async function replyTo(
    parsed: FakeRequest,
    operation: string,
    failure: InjectedFailure['kind'] | undefined,
  ): Promise<FakeReply> {
    if (failure === 'throttle') return vendor.throttle()
    return failure === 'fail' ? vendor.failure() : vendor.handle(parsed, operation)
  }
  async function stop() {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  cloud.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return cloud
}

function send(response: ServerResponse, { status, json, text, headers = {} }: FakeReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text ?? JSON.stringify(json))
}

async function read(request: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const url = new URL(request.url ?? '/', `http://${headers.host}`)
  return { method: request.method ?? '', url, headers, body: Buffer.concat(chunks).toString('utf8') }
}
