/**
 * Metrics of the Kubernetes operator. They carry the names of controller-runtime and client-go, without our prefix, so
 * that the dashboards and alerts that exist for those work here too.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Metrics that only the operator moves. */
export type OperatorMetrics = ReturnType<typeof createOperatorMetrics>

/** Declares the operator's metrics in a registry. */
export function createOperatorMetrics(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name, help, labelNames, registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers })
  const seconds = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Histogram<L>({ name, help, labelNames, buckets: SECONDS, registers })
  return {
    reconciles: counter('controller_runtime_reconcile_total', 'Reconciliations by controller and result.', [
      'controller',
      'result',
    ]),
    reconcileErrors: counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', [
      'controller',
    ]),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciliations that failed in a way that only a change of a resource can fix.',
      ['controller'],
    ),
    reconcileSeconds: seconds('controller_runtime_reconcile_time_seconds', 'Time of a reconciliation.', ['controller']),
    maxConcurrent: gauge('controller_runtime_max_concurrent_reconciles', 'Workers of a controller.', ['controller']),
    activeWorkers: gauge('controller_runtime_active_workers', 'Workers that are busy.', ['controller']),
    queueDepth: gauge('workqueue_depth', 'Keys that wait.', ['name']),
    queueAdds: counter('workqueue_adds_total', 'Keys added.', ['name']),
    queueSeconds: seconds('workqueue_queue_duration_seconds', 'Time that a key waits.', ['name']),
    workSeconds: seconds('workqueue_work_duration_seconds', 'Time that a key is worked on.', ['name']),
    queueRetries: counter('workqueue_retries_total', 'Retries after failures.', ['name']),
    kubeRequests: counter('rest_client_requests_total', 'Requests to the API server by status, method and host.', [
      'code',
      'method',
      'host',
    ]),
    kubeSeconds: seconds('rest_client_request_duration_seconds', 'Time until the API server answers.', [
      'method',
      'host',
    ]),
    leader: gauge('leader_election_master_status', '1 while this process leads.', ['name']),
    watchRestarts: counter('postwright_watch_restarts_total', 'Watches opened again, by kind and reason.', [
      'kind',
      'reason',
    ]),
    lastEvent: gauge(
      'postwright_informer_last_event_timestamp_seconds',
      'When a watch last brought something, bookmarks included.',
      ['kind'],
    ),
    cacheObjects: gauge('postwright_cache_objects', 'Objects in the cache.', ['kind']),
    resources: gauge('postwright_resources', 'Resources by kind and status of their Ready condition.', [
      'kind',
      'ready',
    ]),
    stalledResources: gauge(
      'postwright_resources_stalled',
      'Resources by kind that the operator refuses until a user changes something; paused and suspended ones are not counted.',
      ['kind'],
    ),
    driftReverted: counter(
      'postwright_drift_reverted_total',
      'Reverted changes of what a resource declares, by kind and place (database, secret, provider).',
      ['kind', 'place'],
    ),
    mirrorFailures: counter('postwright_mirror_failures_total', 'States that could not be written onto the record.', [
      'kind',
    ]),
  }
}
