/** `/healthz`, `/readyz` and `/metrics` of a process. */
import { listen } from '../network/listen.ts'
import { createServer } from '../network/node-http.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Config } from './config.ts'

/** What the probes answer from. Each returns undefined when there is nothing to report. */
export interface ProbeState {
  /** Why the process must be started again. */
  notAlive(): string | undefined
  /** Why the process accepts no traffic now. */
  notReady(): string | undefined
  /** A condition that needs attention although the process works; shown after "ok" and "ready". */
  warning(): string | undefined
}

/** Longest duration of a scrape during the stop, in milliseconds. */
const CUT_MS = 5_000

/** Serves the probes on METRICS_PORT from the first moment of a process to its last. */
export async function serveProbes(
  config: Config,
  metrics: Metrics,
  state: ProbeState,
): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    const probe = (good: string, error: string | undefined) =>
      answer(error === undefined ? 200 : 503, `${[error ?? good, state.warning()].filter(Boolean).join('\n')}\n`)
    if (request.url === '/healthz') return probe('ok', state.notAlive())
    if (request.url === '/readyz') return probe('ready', state.notReady())
    if (request.url !== '/metrics') return answer(404, 'not found\n')
    metrics.registry.metrics().then(
      text => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => answer(500, 'metrics cannot be collected\n'),
    )
    return undefined
  })
  await listen(server, config.METRICS_PORT, config.APP_HOST, 'METRICS_PORT')
  return {
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        setTimeout(() => server.closeAllConnections(), CUT_MS).unref()
      }),
  }
}
