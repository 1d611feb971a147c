/** Processes accepted messages until it is stopped: at once when one comes in, and by polls what another process left. */
import type { Clock } from '../../platform/clock.ts'
import { abortableDelay } from '../../platform/concurrency/abortable-delay.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { Running } from '../../platform/running.ts'
import type { Outcome } from './process-inbound.ts'
import { claimInbound, type InboundDoc, settleInbound } from './store/inbound-messages.ts'

/** Dependencies of {@link startProcessing}. */
export interface LoopDeps {
  db: Db
  clock: Clock
  log: Log
  metrics: Pick<Metrics, 'inboundMessages'>
  process(doc: InboundDoc): Promise<Outcome[]>
}

/** The running loop; `wake` has it look for messages now. */
export interface Processing extends Running {
  wake(): void
}

/** Messages that one process works on in parallel. */
const RUNNERS = 4
/** A message whose process stopped is processed again after this time, in milliseconds. */
const CLAIM_MS = 60_000
const POLL_MS = 2_000
/** Pause before a message is processed again, in milliseconds; it doubles up to the longest. */
const PAUSE = { first: 15_000, longest: HOUR_MS }
/** Deliveries are final after three days at the latest: what could not be applied by then never can. */
const GIVE_UP_MS = 5 * DAY_MS

/** Starts the runners of this process. */
export function startProcessing(deps: LoopDeps): Processing {
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  const wake = () => {
    woken.resolve()
    woken = Promise.withResolvers()
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      const waiting = woken.promise
      const found = await processNext(deps).catch((error: unknown) => {
        deps.log.warn({ err: error }, 'incoming messages could not be claimed; trying again')
        return false
      })
      if (found) continue
      const idle = new AbortController()
      await Promise.race([waiting, abortableDelay(POLL_MS, AbortSignal.any([stopping.signal, idle.signal]))])
      idle.abort()
    }
  }
  const runners = Array.from({ length: RUNNERS }, run)
  return {
    wake,
    async stop() {
      stopping.abort()
      wake()
      await Promise.all(runners)
    },
  }
}

/** False when none is due. */
async function processNext(deps: LoopDeps): Promise<boolean> {
  const { db, clock } = deps
  const now = clock.now()
  const doc = await claimInbound(db, now, new Date(now.getTime() + CLAIM_MS))
  if (!doc) return false
  const outcomes = await deps.process(doc).catch((error: unknown) => {
    deps.log.error({ err: error, inbound: doc._id }, 'an incoming message could not be processed; trying again')
    return undefined
  })
  const isOld = now.getTime() - doc.at.getTime() > GIVE_UP_MS
  const isDone = outcomes !== undefined && !outcomes.includes('early')
  if (!isDone && !isOld) {
    const pause = Math.min(PAUSE.longest, PAUSE.first * 2 ** (doc.attempts - 1))
    await settleInbound(db, doc, { due: new Date(clock.now().getTime() + pause) })
    return true
  }
  const final = doc.rcpts.map((_, index) => {
    const outcome = outcomes?.[index] ?? 'early'
    return outcome === 'early' ? 'given_up' : outcome
  })
  await settleInbound(db, doc, { outcomes: final })
  report(deps, doc, final)
  return true
}

function report({ log, metrics, clock }: LoopDeps, doc: InboundDoc, outcomes: readonly string[]): void {
  const waitedMs = clock.now().getTime() - doc.at.getTime()
  doc.rcpts.forEach(({ kind, key }, index) => {
    const outcome = outcomes[index] ?? 'unknown'
    metrics.inboundMessages.inc({ kind, outcome })
    log.info({ inbound: doc._id, kind, about: key, outcome, ip: doc.ip, ms: waitedMs }, 'incoming message processed')
  })
}
