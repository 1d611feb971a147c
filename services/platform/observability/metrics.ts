/** Prometheus metrics of one process. Every name is declared here, so that `docs/metrics.md` and the dashboards can be checked against it. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { VERSION } from '../version.ts'
import { exposeOwn } from './exposed-metrics.ts'
import { createOperatorMetrics } from './operator-metrics.ts'
import { exportFormerName } from './renamed-metrics.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * All metrics. Labels are bounded: outcomes, channels and classes, never an address, a domain or an account.
 * Names get the prefix `postwright_`.
 */
export type Metrics = ReturnType<typeof createMetrics>

/** Creates every metric of the product, and a registry with those that the service updates; with another name all are in it. */
export function createMetrics(service: string) {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  const make = makersFor(registry)
  make.gauge('build_info', 'Always 1; its label is the running version.', ['version']).set({ version: VERSION }, 1)
  const metrics = {
    registry,
    operator: createOperatorMetrics(registry),
    ...processMetrics(make),
    ...submissionMetrics(make),
    ...deliveryMetrics(make),
    ...inboundMetrics(make),
    ...dnsMetrics(make),
    ...subscriptionMetrics(make),
  }
  exposeOwn(registry, service)
  return metrics
}

/** Make metrics of the registry, with the prefix of the product. */
function makersFor(registry: Registry) {
  const prefixed = <L extends string>(name: string, help: string, labelNames: readonly L[]) => ({
    ...{ name: `postwright_${name}`, help, labelNames, registers: [registry] },
  })
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter<L>(prefixed(name, help, labelNames)),
    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>(prefixed(name, help, labelNames)),
    seconds<L extends string = never>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      buckets: number[] = SECONDS,
    ) {
      const histogram = new Histogram<L>({ ...prefixed(`${name}_duration_seconds`, help, labelNames), buckets })
      exportFormerName(registry, histogram, `postwright_${name}_duration_seconds`, `postwright_${name}_seconds`)
      return histogram
    },
  }
}

type Makers = ReturnType<typeof makersFor>

function processMetrics({ counter, gauge, seconds }: Makers) {
  return {
    httpRequests: seconds('http_request', 'Time of an HTTP request, by route and status class.', [
      'route',
      'method',
      'status',
    ]),
    logins: counter('logins_total', 'Logins by channel (panel, smtp, admin) and outcome (ok, refused, limited).', [
      'channel',
      'outcome',
    ]),
    clockSkew: gauge(
      'clock_skew_seconds',
      "Clock of this machine minus the clock of the database. Stored times are corrected by it; above 2 the machine's time synchronisation is broken.",
    ),
    mongoUp: gauge('mongo_up', '1 while the database answers.'),
    mongoSeconds: seconds('mongo_write', 'Time of a durable group commit, by collection.', ['collection']),
    jobs: seconds('job', 'Time of a background job, by name and outcome (ok, failed).', ['job_name', 'outcome']),
  }
}

function submissionMetrics({ counter, gauge, seconds }: Makers) {
  return {
    accepted: counter('messages_accepted_total', 'Messages durably accepted, by channel (smtp, http, system).', [
      'channel',
    ]),
    refused: counter('messages_refused_total', 'Refused submissions, by channel and problem code.', [
      'channel',
      'code',
    ]),
    acceptSeconds: seconds('accept', 'Time from the complete message to the durable answer.', ['channel']),
    certificateExpiry: gauge(
      'tls_certificate_expiry_timestamp_seconds',
      'End of the certificate that this process serves on its SMTP ports, in seconds since 1970; absent without one.',
      ['use'],
    ),
    smtpConnections: gauge('smtp_connections', 'Open submission connections.'),
  }
}

function deliveryMetrics({ counter, gauge, seconds }: Makers) {
  return {
    attempts: counter(
      'delivery_attempts_total',
      'Delivery attempts by outcome (delivered, deferred, bounced, ambiguous, suppressed).',
      ['outcome'],
    ),
    attemptSeconds: seconds('delivery_attempt', 'Time of a delivery attempt.', ['outcome']),
    queueSeconds: seconds(
      'delivery_queue',
      'Time from acceptance to final delivery.',
      [],
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60, 300, 1800, 7200, 43_200, 259_200],
    ),
    fenced: counter('delivery_fenced_total', 'Results or final dots withheld because the slot had a new owner.'),
    ambiguous: counter(
      'delivery_ambiguous_total',
      'Attempts whose outcome is unknown: the final dot went out and no reply was recorded.',
    ),
    suppressionsAdded: counter(
      'suppressions_added_total',
      'Addresses that the service suppressed by itself, by reason (hard_bounce, complaint, unsubscribe).',
      ['reason'],
    ),
    authenticationRefusals: counter(
      'authentication_refusals_total',
      'Attempts that receivers refused because they could not authenticate the sender, by site (a provider, or other).',
      ['site'],
    ),
    tlsReports: counter(
      'tls_reports_total',
      'TLS reports to recipient domains, by channel (mail, https) and outcome (sent, retried, failed).',
      ['channel', 'outcome'],
    ),
    queueDepth: gauge('queue_deliveries', 'Deliveries waiting, by state (due, later).', ['state']),
    queueOldest: gauge('queue_oldest_due_seconds', 'Age of the oldest delivery that is due.'),
    troubledSites: gauge(
      'sites',
      'Destination sites that this worker gives mail to less than usual, by state (throttled, down).',
      ['state'],
    ),
    slotsOwned: gauge('slots_owned', 'Delivery slots owned by this process, without those whose lease has run out.'),
    slots: gauge('slots', 'Total number of delivery slots: SLOTS times the number of cells.'),
    outboundConnections: gauge('outbound_connections', 'Open connections to receiving servers.'),
  }
}

function inboundMetrics({ counter, gauge }: Makers) {
  return {
    inboundMessages: counter(
      'inbound_messages_total',
      'Incoming messages that were processed, by kind of their address (return_path, feedback, role) and outcome (bounced, complained, reported, duplicate, gone, auto_reply, unknown, bounce_of_bounce, no_complaint, unidentified, given_up).',
      ['kind', 'outcome'],
    ),
    inboundRefused: counter(
      'inbound_refused_total',
      'Refusals of incoming mail, by reason (unknown, expired, too_many, too_large, loop, unavailable).',
      ['reason'],
    ),
    inboundConnections: gauge('inbound_connections', 'Open connections of servers that bring mail.'),
  }
}

function dnsMetrics({ counter }: Makers) {
  return {
    dnsChecks: counter(
      'dns_checks_total',
      'Checks of a domain by outcome (verified, pending, failed, temporary; unchanged: only a quick check was due).',
      ['outcome'],
    ),
    dnsProviderCalls: counter(
      'dns_provider_calls_total',
      'Calls to DNS providers, by provider, operation and outcome.',
      ['provider', 'operation', 'outcome'],
    ),
  }
}

function subscriptionMetrics({ counter }: Makers) {
  return {
    notices: counter('subscription_notices_total', 'Payment notices by channel and outcome.', ['channel', 'outcome']),
    switchEvaluations: counter('switch_evaluations_total', 'Switch evaluations by kind (single, bulk).', ['kind']),
  }
}
