/**
 * The clock of a process: the machine's monotonic timer, set to the database's clock. Processes on machines whose clocks
 * disagree, or are stepped, compare and store the same times (ADR 63).
 */
import type { Clock } from '../clock.ts'
import { withTimeout } from '../concurrency/timeout.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Db } from './mongo.ts'

/** A running clock. `stop` ends its measurements. */
export interface DatabaseClock extends Clock {
  /** How far the machine's own clock is ahead of the database's, in milliseconds; negative when it is slow. */
  skewMs(): number
  /** What to do about that, for probes; undefined up to 2 s. */
  warning(): string | undefined
  stop(): Promise<void>
}

/** The timers of this machine in milliseconds; tests pass their own. */
export interface MachineTime {
  /** Time since the epoch, as this machine has it. May be wrong, and may be stepped. */
  wall(): number
  /** Time since some moment. Never stepped. */
  monotonic(): number
}

/** Dependencies of {@link startDatabaseClock}. */
export interface DatabaseClockOptions {
  /** Reads the database's clock. Rejects when the database does not answer. */
  read(): Promise<Date>
  log: Log
  metrics: Pick<Metrics, 'clockSkew'>
  machine?: MachineTime
  /** Between two measurements, in milliseconds. */
  intervalMs?: number
}

/** The machine's clock is reported from this difference on. */
const SKEW_LIMIT_MS = 2_000
const INTERVAL_MS = 5_000
/** A measurement without an answer is given up; the clock runs on. */
const ANSWER_MS = 5_000
/** At the start the clock is read again, up to so often, until it is known this precisely. */
const FIRST_READINGS = 5
const PRECISE_MS = 10
/** The clock stops for up to this time, in milliseconds, instead of going back. */
const SMOOTHED_MS = 1_000
/** How much a machine's timer may run fast or slow: 500 ppm is the most that NTP corrects. */
const DRIFT = 500e-6

const MACHINE: MachineTime = { wall: () => Date.now(), monotonic: () => performance.now() }

/** The database's time at this moment, of the primary (or of the mongos that answers). */
export async function readDatabaseTime(db: Db): Promise<Date> {
  const { localTime } = await db.admin().command({ hello: 1 })
  if (!(localTime instanceof Date)) throw new Error('the database does not return its time')
  return localTime
}

/** Between which values "database time minus monotonic time" is, in milliseconds, and when that was measured. */
interface Offset {
  low: number
  high: number
  at: number
}

/** Measures the database's clock, then follows it. Rejects when the first measurement gets no answer. */
export async function startDatabaseClock(options: DatabaseClockOptions): Promise<DatabaseClock> {
  const { read, log, metrics, machine = MACHINE, intervalMs = INTERVAL_MS } = options

  const sample = async (): Promise<Offset> => {
    const sent = machine.monotonic()
    const time = (await withTimeout(ANSWER_MS, read())).getTime()
    const received = machine.monotonic()
    // The server truncates its time to milliseconds, at some moment between request and response.
    return { low: time - received, high: time + 1 - sent, at: received }
  }

  let offset = await sample()
  for (let more = FIRST_READINGS - 1; more > 0 && width(offset) > PRECISE_MS; more--)
    offset = narrowed(offset, await sample()) ?? offset

  let latest = 0
  const now = () => {
    const time = machine.monotonic() + middle(offset)
    // A correction by milliseconds must not let two times of one process change places.
    latest = time < latest && latest - time < SMOOTHED_MS ? latest : time
    return latest
  }
  const skewMs = () => machine.wall() - now()
  const isSkewed = () => Math.abs(skewMs()) > SKEW_LIMIT_MS

  const measure = async () => {
    const fresh = await sample()
    const next = narrowed(offset, fresh)
    const step = middle(fresh) - middle(offset)
    if (!next && Math.abs(step) > SKEW_LIMIT_MS)
      log.warn(
        { ms: Math.round(step) },
        "the database's clock was stepped, or the new primary has another one; this process follows it",
      )
    offset = next ?? fresh
  }

  let wasSkewed = false
  const report = () => {
    metrics.clockSkew.set(skewMs() / 1000)
    if (isSkewed() === wasSkewed) return
    wasSkewed = !wasSkewed
    if (wasSkewed) log.warn({ ms: Math.round(skewMs()) }, describe(skewMs()))
    else log.info({ ms: Math.round(skewMs()) }, "the machine's clock agrees with the database's again")
  }

  let measuring = false
  const tick = async () => {
    if (measuring) return
    measuring = true
    await measure().catch((error: unknown) => log.debug({ err: error }, "the database's clock was not read"))
    measuring = false
    report()
  }
  report()
  const timer = setInterval(() => void tick(), intervalMs).unref()

  return {
    now: () => new Date(now()),
    skewMs,
    warning: () => (isSkewed() ? describe(skewMs()) : undefined),
    async stop() {
      clearInterval(timer)
    },
  }
}

function describe(skewMs: number): string {
  const seconds = Math.abs(skewMs / 1000).toFixed(1)
  return `the machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's; stored times are corrected, but check the time synchronisation of this machine: log lines and certificates depend on it`
}

const width = ({ low, high }: Offset) => high - low
const middle = ({ low, high }: Offset) => (low + high) / 2

/**
 * The intersection of both measurements, so that a slow response does not reduce precision. Undefined when they
 * contradict each other: one of the clocks was stepped.
 */
function narrowed(known: Offset, fresh: Offset): Offset | undefined {
  const drift = DRIFT * (fresh.at - known.at)
  const both = { low: Math.max(known.low - drift, fresh.low), high: Math.min(known.high + drift, fresh.high) }
  return both.low <= both.high ? { ...both, at: fresh.at } : undefined
}
