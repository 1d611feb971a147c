/** Runs a reconciler over a queue: one run per key at a time, a pause after failures, no retry of what cannot help. */
import type { Log } from '../../services/platform/observability/log.ts'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import type { WorkQueue } from './work-queue.ts'

/** `requeueAfterMs`: run again after this time. */
export interface RunResult {
  requeueAfterMs?: number
}

/** Reconciles the resource with this key. Level-based: it gets no other information about the change. */
export type Reconcile = (key: string) => Promise<RunResult>

/** A failure that a retry cannot fix: the next run waits for a change of the resource or of what it refers to. */
export class TerminalError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TerminalError'
  }
}

/** A failure with its own retry time, in milliseconds. */
export class LaterError extends Error {
  readonly afterMs: number
  constructor(message: string, afterMs: number, cause?: unknown) {
    super(message, { cause })
    this.name = 'LaterError'
    this.afterMs = afterMs
  }
}

/** Options of {@link startController}. */
export interface ControllerOptions {
  /** Label of the metrics: the kind in lower case. */
  name: string
  queue: WorkQueue
  reconcile: Reconcile
  concurrency: number
  log: Log
  metrics: OperatorMetrics
}

/** A running controller. */
export interface Controller {
  /** Accepts no further key and waits for the runs in progress. */
  stop(): Promise<void>
}

/** Starts the workers. */
export function startController(options: ControllerOptions): Controller {
  const { name: controller, queue, reconcile, concurrency, log, metrics } = options
  metrics.maxConcurrent.set({ controller }, concurrency)
  metrics.activeWorkers.set({ controller }, 0)

  const settle = (key: string, error: unknown) => {
    if (error instanceof TerminalError) {
      queue.forget(key)
      metrics.terminalErrors.inc({ controller })
      log.info({ controller, key, reason: error.message }, 'waiting for a change')
      return 'terminal'
    }
    const least = error instanceof LaterError ? error.afterMs : retryAfterOf(error)
    const pauseMs = queue.retry(key, least)
    metrics.reconcileErrors.inc({ controller })
    log.warn({ controller, key, err: error, pauseMs: Math.round(pauseMs) }, 'reconciliation failed')
    return 'error'
  }
  const run = async (key: string) => {
    const started = performance.now()
    metrics.activeWorkers.inc({ controller })
    try {
      const { requeueAfterMs } = await reconcile(key)
      queue.forget(key)
      if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs)
      metrics.reconciles.inc({ controller, result: requeueAfterMs === undefined ? 'success' : 'requeue_after' })
    } catch (error) {
      metrics.reconciles.inc({ controller, result: settle(key, error) === 'terminal' ? 'success' : 'error' })
    } finally {
      metrics.activeWorkers.dec({ controller })
      metrics.reconcileSeconds.observe({ controller }, (performance.now() - started) / 1000)
      queue.done(key)
    }
  }
  const worker = async () => {
    for (let key = await queue.next(); key !== undefined; key = await queue.next()) await run(key)
  }
  const workers = Array.from({ length: concurrency }, worker)
  return {
    async stop() {
      queue.close()
      await Promise.all(workers)
    },
  }
}

/** Milliseconds to wait as requested by the server, if the error contains them. */
function retryAfterOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterMs' in error)) return 0
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0
}
