/**
 * The delivery engine of one worker: own slots, claim what is due in them, send, settle. Creates the parts and connects
 * them; setup.ts chooses transport, routes and keys from the configuration. Everything that must survive is in the database.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import { RefusalRecorder } from '../domains/record-refusals.ts'
import { createQuota } from '../limits/quota.ts'
import { cellsOf } from '../store/cells.ts'
import { DeliveryQueue } from '../store/deliveries.ts'
import { findEvents } from '../store/events.ts'
import { Outbox } from '../store/outgoing.ts'
import { partsOf, slotOf, slotsOf } from '../store/rules/assign-slot.ts'
import { RELAY_SITE } from '../store/rules/flow.ts'
import type { Wake } from '../store/wake.ts'
import type { FindPersonalFields } from '../streams/find-personal-fields.ts'
import type { FindSuppressed } from '../suppressions/find-suppressed.ts'
import type { FindTracking } from '../tracking/track-content.ts'
import { createAttempt } from './batch/attempt.ts'
import type { Result } from './batch/attempt-result.ts'
import { createClassify } from './batch/classify-claimed.ts'
import { BatchDelivery } from './batch/deliver-batch.ts'
import { createSend } from './batch/send-group.ts'
import { createSettle } from './batch/settle.ts'
import { VISIBILITY_MS } from './claiming/claim-deliveries.ts'
import { ClaimRounds } from './claiming/claim-rounds.ts'
import { DestinationLimits, type DestinationLimitsOptions } from './claiming/destination-limits.ts'
import { createGiveBack } from './claiming/give-back.ts'
import { InFlight } from './claiming/in-flight.ts'
import { WakeUps } from './claiming/wake-ups.ts'
import { HeldMail } from './control/held-mail.ts'
import { workOnQueue } from './control/queue-worker.ts'
import { DeliveryEngine } from './engine-run.ts'
import type { FindCapture } from './find-capture.ts'
import type { TlsResultRecorder } from './record-tls-results.ts'
import type { FindReturnPath } from './return-paths.ts'
import type { FindRoute } from './routes.ts'
import type { FindKeys } from './signing-keys.ts'
import { createSiteExchange } from './sites/site-sync.ts'
import { Sites } from './sites/sites.ts'
import { type LeaseTimes, SlotLeases } from './slots/slot-leases.ts'
import type { Transport } from './smtp/transport.ts'

/** Dependencies of {@link createDeliveryEngine}. */
export interface EngineOptions {
  mongo: Mongo
  log: Log
  metrics: Metrics
  clock: Clock
  /** Unique name of this worker. */
  owner: string
  /** Agenda instance of the slots only; the engine starts and stops it. */
  jobs: Jobs
  /** Number of slots of a cell. */
  slots: number
  /** DELIVERY_MODE=relay. */
  relay: boolean
  logDays: number
  times: LeaseTimes
  /** How long a stop waits for what is in flight, in milliseconds. */
  graceMs: number
  transport: Transport
  findRoute: FindRoute
  findCapture: FindCapture
  findReturnPath: FindReturnPath
  findPersonalFields: FindPersonalFields
  findTracking: FindTracking
  findKeys: FindKeys
  /** Limits of accounts at destinations; see {@link DestinationLimitsOptions}. */
  readLimits: DestinationLimitsOptions['readLimits']
  defaultLimits: DestinationLimitsOptions['defaultLimits']
  /** At most 5 s old. */
  isSuspended(userId: string): Promise<boolean>
  /** Sends the reports that these final results ask for. */
  report(results: readonly Result[]): Promise<void>
  findSuppressed: FindSuppressed
  /** Suppresses the addresses that do not exist, as these results show. */
  suppress(results: readonly Result[]): Promise<void>
  /** Queues the events of these results for webhooks; default: none. */
  queueEvents?(results: readonly Result[]): Promise<void>
  /** Records the complaints of these recipients of the simulator; default: none. */
  complain?(results: readonly Result[]): Promise<void>
  /** TLS results that wait to be written; default: none are counted. */
  tlsResults?: Pick<TlsResultRecorder, 'flush'> | undefined
  wake: Wake
  /** A number from 0 to 1. */
  random(): number
}

/** Most deliveries in flight. A relay takes what it gets; among many receivers slow ones must not use up the room. */
const IN_FLIGHT = { relay: 600, direct: 4_000 }

/** The engine, connected and not started. */
export function createDeliveryEngine(options: EngineOptions): DeliveryEngine {
  const { mongo, log, metrics, clock, relay, slots, wake } = options
  const cells = cellsOf(mongo.db)
  const queue = new DeliveryQueue(mongo)
  const outbox = new Outbox(mongo, options.logDays)
  const refusals = new RefusalRecorder({ db: mongo.db, clock })
  const inFlight = new InFlight(({ site }) => (relay ? RELAY_SITE : site))
  const wakeUps = new WakeUps()
  const hardStop = new AbortController()
  const signal = hardStop.signal
  const context = () => ({ now: clock.now(), random: options.random, logDays: options.logDays })
  const allSlotsOf = (site: string) => slotsOf(site, slots, relay, cells.count)

  const leases = new SlotLeases({
    ...options,
    cells,
    async onTaken(taken) {
      await queue.recover(taken, clock.now(), VISIBILITY_MS)
      wakeUps.notify()
    },
    onReleased: released => wake.release(released),
    whenIdle: slot => inFlight.whenIdle(slot),
    isIdle: slot => inFlight.isIdle(slot),
    onCount(owned) {
      metrics.slotsOwned.set(owned)
      metrics.slots.set(slots * cells.count)
    },
  })
  const claimable = () => leases.claimable()
  const sites = new Sites({
    relay,
    shareOf(site) {
      const owned = claimable()
      return {
        owned: allSlotsOf(site).filter(slot => owned.has(slot)).length,
        parts: partsOf(site, slots, relay) * cells.count,
      }
    },
    now: () => clock.now().getTime(),
    schedule: (ms, call) => void setTimeout(call, ms).unref(),
    messagesAt: site => inFlight.messagesAt(site),
    onRoom: site => wakeUps.siteHasRoom(site),
    onChange(state) {
      log.info({ ...state, resumeInMs: Math.max(0, state.resumeAt - clock.now().getTime()) }, 'state of a site changed')
      exchange.note(state)
    },
  })
  const exchange = createSiteExchange({
    ...{ mongo, owner: options.owner, now: () => clock.now() },
    learn: finding => sites.learn(finding),
  })

  const heldMail = new HeldMail(options)
  const quota = createQuota(options)
  const destinationLimits = new DestinationLimits({ ...options, quota, wakeUps })
  const giveBack = createGiveBack({ queue, inFlight, clock, log, signal })
  const rounds = new ClaimRounds({
    ...{ queue, outbox, inFlight, sites, wakeUps, giveBack, clock, relay, claimable, destinationLimits },
    slotsOf: allSlotsOf,
    mostInFlight: relay ? IN_FLIGHT.relay : IN_FLIGHT.direct,
  })
  const attempt = createAttempt({ ...options, queue, context, mayFinish: claim => leases.mayFinish(claim) })
  const delivery = new BatchDelivery({
    ...{ queue, inFlight, sites, wakeUps, giveBack, relay, context, log },
    findRoute: options.findRoute,
    findCapture: options.findCapture,
    findReturnPath: options.findReturnPath,
    findPersonalFields: options.findPersonalFields,
    findTracking: options.findTracking,
    classify: createClassify({ ...options, sites, heldMail, context, findEvents: ids => findEvents(mongo, ids) }),
    send: createSend({ mongo, log, clock, relay, sites, attempt, inFlight }),
    settle: createSettle({ ...options, queue, outbox, refusals: relay ? onlyRefused(refusals) : refusals, signal }),
    slotOf: (site, messageId) => slotOf(site, messageId, slots, relay),
    onMoved: (slot, flow) => wake.ring([slot], [flow]),
  })
  return new DeliveryEngine({
    ...{ ...options, queue, inFlight, wakeUps, leases, sites, exchange, rounds, refusals, hardStop },
    ...{ quota, destinationLimits, heldMail },
    workOnQueue: signal => workOnQueue(options, signal),
    deliver: batch => delivery.deliver(batch),
  })
}

/** A relay takes a message before any receiver has: its 250 does not show that the receiver authenticates the domain. */
function onlyRefused(refusals: RefusalRecorder): Pick<RefusalRecorder, 'refused' | 'delivered'> {
  return { refused: (domainId, refusal) => refusals.refused(domainId, refusal), delivered: () => undefined }
}
