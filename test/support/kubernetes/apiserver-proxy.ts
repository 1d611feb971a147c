/** A proxy in front of the API server that counts requests and injects failures: errors, cut watches, no replies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { createKubeClient, type KubeClient } from '../../../operator/kube/client.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import type { ApiServerAccess } from './apiserver.ts'

/** An error that the proxy returns. */
export interface InjectedError {
  status: number
  reason: string
  retryAfter?: number
}

/** A request that passed through. */
export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  status: number
}

/** The proxy. Change `failure` and `cutWatchesAfterMs` at any time. */
export interface KubeProxy {
  url: string
  seen: Seen[]
  /** Decides about each request; undefined forwards it. */
  failure: (request: { method: string; path: string; query: URLSearchParams }) => InjectedError | undefined
  /** Ends each watch after this time. */
  cutWatchesAfterMs: number | undefined
  /** Accepts requests and never replies, as a half-open connection does. */
  silent: boolean
  /** Distinct connections until now. */
  connections(): number
  /** A client that uses the proxy. */
  client(token: string): KubeClient
  stop(): Promise<void>
}

/** Starts a proxy on 127.0.0.1. It speaks plain HTTP to the tests. */
export async function startKubeProxy(target: ApiServerAccess): Promise<KubeProxy> {
  let connections = 0
  const server = createServer((request, response) => handle(request, response))
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await new Promise<void>(resolve => server.once('listening', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy: KubeProxy = {
    url,
    seen: [],
    failure: () => undefined,
    cutWatchesAfterMs: undefined,
    silent: false,
    connections: () => connections,
    client: token => createKubeClient(() => loginThrough(url, token), createMetrics('test').operator),
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', url)
    const method = request.method ?? 'GET'
    const note = (status: number) => proxy.seen.push({ method, path, query, status })
    if (proxy.silent) return
    const failure = proxy.failure({ method, path, query })
    if (failure) {
      note(failure.status)
      request.resume()
      refuse(response, failure)
      return
    }
    const { hostname, port } = new URL(target.url)
    const headers = { ...request.headers, host: `${hostname}:${port}` }
    const upstream = httpsRequest({ hostname, port, ca: target.ca, method, path: request.url, headers }, answer => {
      note(answer.statusCode ?? 0)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      if (query.get('watch') && proxy.cutWatchesAfterMs !== undefined)
        setTimeout(() => response.destroy(), proxy.cutWatchesAfterMs)
    })
    upstream.on('error', () => response.destroy())
    response.on('close', () => upstream.destroy())
    request.pipe(upstream)
  }
  return proxy
}

function refuse(response: ServerResponse, { status, reason, retryAfter }: InjectedError) {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  })
  response.end(
    JSON.stringify({ kind: 'Status', status: 'Failure', code: status, reason, message: `injected: ${reason}` }),
  )
}

function loginThrough(server: string, token: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'proxy', server, skipTLSVerify: true }, { name: 'user', token })
  return config
}
