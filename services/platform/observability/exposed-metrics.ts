/** Which process exposes which metrics: a family that a process never updates would be a constant zero in its output. */
import type { Registry } from 'prom-client'

/** The processes of an installation that are scaled apart; one that runs several of them exposes everything. */
const SERVICES: ReadonlySet<string> = new Set([
  ...['panel', 'send', 'smtp', 'worker', 'admin', 'compat', 'inbound', 'operator'],
])

/** Families by name, with the only services that update them; all other families belong to every process. */
const OWNERS: readonly (readonly [families: RegExp, services: readonly string[]])[] = [
  [/^postwright_(delivery_|queue_|sites$|slots(_owned)?$|outbound_connections$|tls_reports_)/, ['worker']],
  [/^postwright_authentication_refusals_/, ['worker', 'inbound']],
  [/^postwright_smtp_connections$/, ['smtp']],
  [/^postwright_tls_certificate_/, ['smtp', 'inbound']],
  [/^postwright_inbound_/, ['inbound']],
  [/^postwright_subscription_notices_/, ['admin', 'worker']],
  [/^postwright_switch_evaluations_/, ['admin']],
  [/^postwright_dns_checks_/, ['panel', 'compat', 'worker']],
  [/^postwright_dns_provider_calls_/, ['panel', 'send', 'compat', 'worker', 'operator']],
  [/^(controller_runtime|workqueue|rest_client|leader_election)_/, ['operator']],
  [/^postwright_(watch_|informer_|cache_objects$|resources|drift_|mirror_)/, ['operator']],
]

/** True when the service updates the family. */
export function isExposedBy(service: string, family: string): boolean {
  if (!SERVICES.has(service)) return true
  return OWNERS.every(([families, services]) => !families.test(family) || services.includes(service))
}

/** Removes from the registry what the service does not update. */
export function exposeOwn(registry: Registry, service: string): void {
  for (const { name } of registry.getMetricsAsArray())
    if (!isExposedBy(service, name)) registry.removeSingleMetric(name)
}
