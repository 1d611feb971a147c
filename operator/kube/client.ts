/**
 * Requests to the API server. client-node reads the configuration and signs requests; the requests themselves go
 * through one place, because its generated clients open a connection per call, drop unknown fields and know no
 * timeout (ADR 34).
 */
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { Agent, type Dispatcher, fetch, type Response } from 'undici'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'

/** Values of the query string; undefined is left out. */
export type Query = Record<string, string | number | boolean | undefined>

/** One request. */
export interface KubeRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Query
  body?: object
  /** Content type of a patch. */
  patch?: 'apply' | 'merge' | 'json'
  /** Timeout of the request in milliseconds; default 30 s. */
  timeoutMs?: number
}

/** A refusal by the API server. `reason` is machine-readable: status 409 alone has three meanings. */
export class KubeError extends Error {
  /** HTTP status. */
  readonly status: number
  readonly reason: string
  /** Pause requested by the server, in milliseconds. */
  readonly retryAfterMs: number | undefined
  constructor(status: number, reason: string, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'KubeError'
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** Speaks to one API server. */
export interface KubeClient {
  /** Sends a request and parses the answer. Throws {@link KubeError} on refusal, the transport's error otherwise. */
  request<T = unknown>(request: KubeRequest): Promise<T>
  /** Opens a watch; yields parsed lines until the server ends it. `signal` ends it from our side. */
  watch(path: string, query: Query, signal: AbortSignal, onBytes: () => void): AsyncIterable<unknown>
  close(): Promise<void>
}

const MEDIA = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const

/** Sockets for plain requests; each watch has one of its own beside them. */
const MAX_SOCKETS = 8
const TIMEOUT_MS = 30_000

/** Source of the credentials: `load` is called again after a 401, once per request. */
export type KubeLogin = () => KubeConfig

/** Reads KUBECONFIG, ~/.kube/config or the service account of the pod. */
export function defaultLogin(): KubeConfig {
  const config = new KubeConfig()
  config.loadFromDefault()
  return config
}

/** Namespace of the service account, if the process runs in a pod or the kubeconfig names one. */
export function currentNamespace(config: KubeConfig): string | undefined {
  return config.getContextObject(config.getCurrentContext())?.namespace
}

/** A client over a pool of kept connections. */
export function createKubeClient(load: KubeLogin, metrics: OperatorMetrics): KubeClient {
  let config = load()
  const pools = memoisedPools()
  const send = async (pool: 'requests' | 'watches', url: URL, request: KubeRequest, signal: AbortSignal) => {
    const attempt = async () => {
      const context = new RequestContext(url.toString(), HttpMethod.GET)
      shareDispatcher(config, options => pools.get(pool, options))
      await config.applySecurityAuthentication(context)
      const dispatcher = context.getDispatcher() as Dispatcher | undefined
      return fetch(url, {
        method: request.method,
        headers: { ...context.getHeaders(), ...headersOf(request) },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(dispatcher ? { dispatcher } : {}),
        signal,
      })
    }
    const started = performance.now()
    const labels = { method: request.method, host: url.host }
    try {
      let response = await attempt()
      if (response.status === 401) {
        await response.body?.cancel()
        config = load() // a rotated token: read it again, once
        response = await attempt()
      }
      metrics.kubeRequests.inc({ ...labels, code: String(response.status) })
      return response
    } catch (error) {
      metrics.kubeRequests.inc({ ...labels, code: '<error>' })
      throw error
    } finally {
      metrics.kubeSeconds.observe(labels, (performance.now() - started) / 1000)
    }
  }
  const address = (path: string, query: Query = {}) => {
    const url = new URL((config.getCurrentCluster()?.server ?? '') + path)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    return url
  }
  return {
    async request<T>(request: KubeRequest) {
      const signal = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS)
      const response = await send('requests', address(request.path, request.query), request, signal)
      if (!response.ok) throw await refusal(response)
      return (await response.json()) as T
    },
    async *watch(path, query, signal, onBytes) {
      const response = await send('watches', address(path, query), { method: 'GET', path }, signal)
      if (!response.ok || !response.body) throw await refusal(response)
      yield* jsonLines(response.body, onBytes)
    },
    close: () => pools.close(),
  }
}

function headersOf(request: KubeRequest): Record<string, string> {
  const accept = { accept: 'application/json' }
  if (request.body === undefined) return accept
  return { ...accept, 'content-type': request.patch ? MEDIA[request.patch] : 'application/json' }
}

/** Turns an answer that is not 2xx into an error; the body is a `Status` object unless a proxy wrote it. */
async function refusal(response: Response): Promise<KubeError> {
  const text = await response.text().catch(() => '')
  const seconds = Number(response.headers.get('retry-after'))
  const retryAfterMs = seconds > 0 ? seconds * 1000 : undefined
  try {
    const { reason, message } = JSON.parse(text) as { reason?: string; message?: string }
    return new KubeError(response.status, reason ?? '', message ?? response.statusText, retryAfterMs)
  } catch {
    return new KubeError(response.status, '', text.slice(0, 200) || response.statusText, retryAfterMs)
  }
}

/** Splits a stream of JSON lines. A line that is cut off at the end is dropped: the watch starts again after it. */
async function* jsonLines(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncIterable<unknown> {
  const decoder = new TextDecoder()
  let rest: string[] = []
  for await (const chunk of body) {
    onBytes()
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    const last = pieces.pop() ?? ''
    for (const piece of pieces) {
      const line = rest.join('') + piece
      rest = []
      if (line) yield JSON.parse(line)
    }
    rest.push(last)
  }
}

/** Options of a dispatcher as client-node computes them from the cluster's TLS settings. */
type TlsOptions = Record<string, unknown>

/**
 * client-node creates a dispatcher for each request; this replaces it with a shared one. The method is private in the
 * typings, so it is set by name; a test counts the sockets.
 */
function shareDispatcher(config: KubeConfig, pool: (options: TlsOptions) => Dispatcher): void {
  Object.defineProperty(config, 'createDispatcher', {
    configurable: true,
    value: (_cluster: unknown, options: TlsOptions) => pool(options),
  })
}

/** Pools by purpose and TLS settings, so that a renewed CA file gets connections of its own. */
function memoisedPools() {
  const pools = new Map<string, Agent>()
  return {
    get(purpose: 'requests' | 'watches', { ca, cert, key, rejectUnauthorized, servername }: TlsOptions): Dispatcher {
      const tls = { ca, cert, key, rejectUnauthorized, servername }
      const id = `${purpose} ${JSON.stringify(tls, (_name, value: unknown) => (Buffer.isBuffer(value) ? value.toString('base64') : value))}`
      const found = pools.get(id)
      if (found) return found
      const connect = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
      // HTTP/1.1: one slow stream cannot hold up the others, and the number of streams has no limit of the server's.
      const pool = new Agent({
        allowH2: false,
        bodyTimeout: 0,
        connections: purpose === 'requests' ? MAX_SOCKETS : null,
        connect: { ...connect, keepAlive: true, keepAliveInitialDelay: 30_000 },
      })
      pools.set(id, pool)
      return pool
    },
    async close() {
      await Promise.all([...pools.values()].map(pool => pool.destroy()))
    },
  }
}
