/** The configuration half of the engine (engine.ts): which transport, resolver and keys a process's settings mean. */

import { hostname } from 'node:os'
import { createAccounts } from '../../accounts/account-status.ts'
import { newId } from '../../platform/ids.ts'
import { createJobs } from '../../platform/jobs/jobs.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Foundation } from '../../platform/process/run.ts'
import type { Running } from '../../platform/running.ts'
import { createReadDestinationLimits, defaultLimits } from '../limits/find-limits.ts'
import { domainOf } from '../message/address.ts'
import { readBody } from '../store/bodies.ts'
import { cellsOf } from '../store/cells.ts'
import { RELAY_SITE } from '../store/rules/flow.ts'
import { fixSlotCount } from '../store/slots.ts'
import { wakeOf } from '../store/wake.ts'
import { createPersonalFields } from '../streams/find-personal-fields.ts'
import { createEnqueue } from '../submission/store/store-accepted.ts'
import { createFindSuppressed } from '../suppressions/find-suppressed.ts'
import { createFindTracking } from '../tracking/track-content.ts'
import { createTrackedDomains } from '../tracking/tracked-domains.ts'
import { queueAttempts } from '../webhooks/message-events.ts'
import { mailWebhooksOf } from '../webhooks/queue-mail-events.ts'
import type { Result } from './batch/attempt-result.ts'
import { createCapture, withCapture } from './capture.ts'
import { createDeliveryEngine } from './engine.ts'
import { createReport } from './failure-report.ts'
import { createFindCapture, type FindCapture } from './find-capture.ts'
import { TlsResultRecorder } from './record-tls-results.ts'
import { createReturnPaths, type FindReturnPath } from './return-paths.ts'
import { captureRoute, directRoutes, fixedRoute } from './routes.ts'
import { sharedStsPolicies } from './shared-sts-policies.ts'
import { createKeys } from './signing-keys.ts'
import { type WayOut, withSimulator } from './simulator.ts'
import { LEASE_TIMES, type LeaseTimes } from './slots/slot-leases.ts'
import { createLookup, createMx } from './smtp/mx.ts'
import { createOutbound } from './smtp/outbound.ts'
import type { Deadlines } from './smtp/session.ts'
import { createTlsPolicy } from './smtp/tls-policy.ts'
import type { Relay } from './smtp/transport.ts'
import { createSuppress } from './suppress-bounced.ts'

/** Settings that only tests change, and what subjects above this one do. */
export interface DeliverySetup {
  /** Records the complaints of these recipients of the simulator; default: none. */
  complain?(results: readonly Result[]): Promise<void>
  times?: LeaseTimes
  deadlines?: Deadlines
  /** Certificate authority of the receivers, besides the system's. */
  ca?: string
  graceMs?: number
}

/** Well below the 30 s that Kubernetes gives a pod by default. */
const GRACE_MS = 20_000
/** Slots are invited within a second. */
const SLOT_POLL_MS = 1_000

/** Starts the delivery of this process. */
export async function startConfiguredDelivery(foundation: Foundation, setup: DeliverySetup = {}): Promise<Running> {
  const { config, log, metrics, mongo, secrets, clock } = foundation
  const slots = await fixSlotCount(mongo, config.SLOTS)
  const relay = config.DELIVERY_MODE === 'relay'
  const wake = wakeOf(mongo)
  const placement = { slots, relay, bodyDays: config.RETENTION_BODY_DAYS, logDays: config.RETENTION_LOG_DAYS }
  const from = config.SYSTEM_MAIL_FROM ?? `postmaster@${config.MAIL_HOSTNAME}`
  const enqueue = createEnqueue({ mongo, log, metrics, wake: (ids, flows) => wake.ring(ids, flows), ...placement })
  const jobs = await createJobs(mongo, log, metrics, { collection: 'slot_jobs', pollMs: SLOT_POLL_MS, clock })
  const { isSuspended } = createAccounts(mongo.db, clock)
  const webhooks = mailWebhooksOf({ mongo, clock })
  const tlsResults = sendsTlsReports(config) ? new TlsResultRecorder({ db: mongo.db, clock }) : undefined
  const wayOut = transportOf(foundation, setup, tlsResults)
  const engine = createDeliveryEngine({
    mongo,
    log,
    metrics,
    clock,
    owner: newId(`${hostname()}-${process.pid}`),
    jobs,
    slots,
    relay,
    logDays: config.RETENTION_LOG_DAYS,
    times: setup.times ?? LEASE_TIMES,
    graceMs: setup.graceMs ?? GRACE_MS,
    ...wayOut,
    ...withSimulator(wayOut, relay ? RELAY_SITE : undefined),
    tlsResults,
    findReturnPath: returnPathsOf(foundation),
    findPersonalFields: createPersonalFields({ secrets, baseUrl: config.APP_BASE_URL }),
    findTracking: createFindTracking({
      findDomain: createTrackedDomains({ db: mongo.db, clock, config }),
      secrets,
      appUrl: config.APP_BASE_URL,
    }),
    findKeys: createKeys({ db: mongo.db, secrets, clock, systemDomain: domainOf(from) }),
    isSuspended,
    findSuppressed: createFindSuppressed(mongo.db, clock),
    suppress: createSuppress({ db: mongo.db, clock, metrics }),
    readLimits: createReadDestinationLimits(mongo.db),
    defaultLimits: defaultLimits(config),
    report: createReport({
      enqueue,
      readRaw: (id, parts) => readBody(mongo, id, parts),
      findCapture: wayOut.findCapture,
      clock,
      cells: cellsOf(mongo.db),
      from,
      hostname: config.MAIL_HOSTNAME,
    }),
    queueEvents: results =>
      queueAttempts(
        webhooks,
        results.map(({ event, classification: { kind } }) => ({ event, kind })),
      ),
    ...(setup.complain && { complain: setup.complain }),
    wake,
    random: Math.random,
  })
  await engine.start()
  return engine
}

/** TLS results are counted and reported only where mail goes to the servers of its recipients. */
export function sendsTlsReports({ DELIVERY_MODE, TLS_REPORTS }: Config): boolean {
  return TLS_REPORTS && DELIVERY_MODE === 'direct'
}

/** Captured mail shows the envelope as it was submitted. */
function returnPathsOf({ config, mongo, clock, secrets }: Foundation): FindReturnPath {
  const { BOUNCE_DOMAIN: bounceDomain, DELIVERY_MODE } = config
  if (!bounceDomain || DELIVERY_MODE === 'capture') return async () => undefined
  return createReturnPaths({ db: mongo.db, clock, secrets, bounceDomain })
}

/** The transport of DELIVERY_MODE and how its routes are found. */
function transportOf(
  foundation: Foundation,
  { deadlines, ca }: DeliverySetup,
  tlsResults: TlsResultRecorder | undefined,
): WayOut & { findCapture: FindCapture } {
  const { config, mongo, clock, metrics } = foundation
  const capture = createCapture(foundation)
  // Everything is captured: with the site of captured mail if acceptance marked it, and with those of its recipients if not.
  if (config.DELIVERY_MODE === 'capture')
    return { transport: capture, findRoute: captureRoute, findCapture: async message => message.capture }
  const relay = config.DELIVERY_MODE === 'relay' ? readRelay(config) : undefined
  const now = () => clock.now().getTime()
  const lookup = createLookup(config.DNS_SERVERS)
  // The relay is named by the administrator, so it may lie on a private address.
  const mx = createMx({
    lookup,
    allowPrivate: config.DELIVERY_ALLOW_PRIVATE || relay !== undefined,
    random: Math.random,
    now,
  })
  const tlsPolicy = createTlsPolicy(relay ? { now } : { fetch: sharedStsPolicies(foundation), now })
  const transport = createOutbound({
    mx,
    tlsPolicy,
    helo: config.MAIL_HOSTNAME,
    port: config.DELIVERY_PORT,
    relay,
    ca,
    deadlines,
    now,
    onConnections: count => metrics.outboundConnections.set(count),
    countTls: tlsResults && (result => tlsResults.count(result)),
  })
  return {
    transport: withCapture(transport, capture),
    findRoute: relay ? fixedRoute(RELAY_SITE, relay.host) : directRoutes({ mx, tlsPolicy }),
    findCapture: createFindCapture({ db: mongo.db, clock }),
  }
}

/** RELAY_URL: `smtp://user:password@host:port` or `smtps://…`; ports 25 and 465 by default. */
function readRelay({ RELAY_URL }: Config): Relay {
  if (!RELAY_URL) throw new Error('RELAY_URL is needed with DELIVERY_MODE=relay')
  const { protocol, hostname: name, port, username, password } = new URL(RELAY_URL)
  const implicitTls = protocol === 'smtps:'
  const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  return {
    host: name.replace(/^\[|\]$/g, ''),
    port: Number(port || (implicitTls ? 465 : 25)),
    implicitTls,
    ...(username && { login }),
  }
}
