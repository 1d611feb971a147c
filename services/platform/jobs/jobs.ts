/**
 * Scheduled jobs on Agenda. Agenda's lock is an invitation, not a lease: after an expiry, or when a process stops, two
 * runs of a job may overlap. Every handler is therefore idempotent and guards its own writes.
 */

import { Agenda } from 'agenda'
import type { Clock } from '../clock.ts'
import { withTimeout } from '../concurrency/timeout.ts'
import { isDuplicateKey, type Mongo } from '../database/mongo.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { openJobs } from './agenda-repository.ts'

/** How a kind of job runs. */
export interface JobOptions {
  /** Parallel runs in one process. */
  concurrency: number
  /** Without {@link JobRun.touch} for this time another process may take the job. */
  lockLifetimeMs: number
}

/** One run of a job. */
export interface JobRun<D> {
  data: D
  /** Extends the lock; call it in runs longer than half the lock's lifetime. */
  touch(): Promise<void>
  /** Aborted when the process drains. */
  signal: AbortSignal
}

/** Timed work of one process. Define everything, then start. */
export interface Jobs {
  define<D = undefined>(name: string, options: JobOptions, handler: (run: JobRun<D>) => Promise<void>): void
  /**
   * Ensures that one recurring job exists for (name, key); an existing one gets the interval and keeps its time and its
   * lock.
   */
  seed(name: string, key: string, interval: RepeatInterval, data?: object): Promise<void>
  /** Stores a job that runs once, at `at`. */
  once(name: string, at: Date, data: object): Promise<void>
  /** Makes all idle jobs of a name due now. */
  hurry(name: string): Promise<void>
  start(): Promise<void>
  /** Stops taking jobs, aborts the signal and waits for those that run, for a bounded time; does not reject. */
  stop(): Promise<void>
}

/** Longest wait for running jobs at the stop, as long as the deliveries in flight get; without a database they do not end. */
const DRAIN_MS = 20_000

/** Milliseconds, or a cron expression in a time zone. */
export type RepeatInterval = { everyMs: number } | { cron: string; timeZone: string }

/**
 * Timed work in a collection of its own, so that slots and housekeeping do not wait for each other. `pollMs` is the
 * worst delay of a due job.
 */
export async function createJobs(
  mongo: Mongo,
  log: Log,
  metrics: Metrics,
  options: { collection: string; pollMs: number; clock: Clock },
): Promise<Jobs> {
  const { clock } = options
  const collection = mongo.db.collection(options.collection)
  await mongo.db.createCollection(options.collection).catch(() => undefined)
  await collection.createIndex(
    { name: 1, 'data.key': 1 },
    { unique: true, partialFilterExpression: { type: 'single' } },
  )
  const { backend, agendaIs } = await openJobs(mongo.db, options.collection, clock)
  const agenda = new Agenda({
    backend,
    processEvery: options.pollMs,
    maxConcurrency: 10_000,
    removeOnComplete: true,
  })
  agendaIs(agenda)
  agenda.on('error', error => log.warn({ err: error }, 'job queue does not answer'))
  await agenda.ready
  return new AgendaJobs({ agenda, collection, clock, log, metrics })
}

interface AgendaJobsOptions {
  agenda: Agenda
  collection: ReturnType<Mongo['db']['collection']>
  clock: Clock
  log: Log
  metrics: Metrics
}

class AgendaJobs implements Jobs {
  readonly #options: AgendaJobsOptions
  readonly #running = new Map<string, PromiseWithResolvers<void>>()
  readonly #draining = new AbortController()

  constructor(options: AgendaJobsOptions) {
    this.#options = options
    options.agenda.on('start', job => this.#running.set(String(job.attrs._id), Promise.withResolvers<void>()))
    // `complete` is emitted after the job's state is saved, so the connection may close after it.
    options.agenda.on('complete', job => {
      if (!('attrs' in job)) return
      this.#running.get(String(job.attrs._id))?.resolve()
      this.#running.delete(String(job.attrs._id))
    })
  }

  define<D>(name: string, { concurrency, lockLifetimeMs }: JobOptions, handler: (run: JobRun<D>) => Promise<void>) {
    const run = (job: RunningJob) => this.#run(name, job, handler)
    // lockLimit = concurrency: Agenda would otherwise lock all waiting runs into one process.
    this.#options.agenda.define(name, run, { concurrency, lockLimit: concurrency, lockLifetime: lockLifetimeMs })
  }

  async seed(name: string, key: string, interval: RepeatInterval, data: object = {}): Promise<void> {
    const { collection, clock } = this.#options
    const rhythm =
      'everyMs' in interval
        ? { $set: { repeatInterval: interval.everyMs }, $unset: { repeatTimezone: true as const } }
        : { $set: { repeatInterval: interval.cron, repeatTimezone: interval.timeZone } }
    const job = { name, type: 'single', priority: 0, data: { ...data, key }, nextRunAt: clock.now(), lockedAt: null }
    await collection
      .updateOne({ name, type: 'single', 'data.key': key }, { $setOnInsert: job, ...rhythm }, { upsert: true })
      .catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error // another process seeded it in this moment
      })
  }

  async once(name: string, at: Date, data: object): Promise<void> {
    await this.#options.agenda.schedule(at, name, data)
  }

  async hurry(name: string): Promise<void> {
    const { collection, clock } = this.#options
    await collection.updateMany({ name, lockedAt: null }, { $set: { nextRunAt: clock.now() } })
  }

  start(): Promise<void> {
    return this.#options.agenda.start()
  }

  async stop(): Promise<void> {
    const { agenda, log } = this.#options
    this.#draining.abort()
    // stop() releases jobs that are locked but not started; drain() would keep them locked and can miss a job that just
    // ends.
    const unlocked = agenda.stop()
    const ended = Promise.all([...this.#running.values()].map(({ promise }) => promise))
    await withTimeout(DRAIN_MS, Promise.all([unlocked, ended])).catch((error: unknown) =>
      log.warn({ err: error }, 'jobs did not end in time; their locks run out'),
    )
  }

  async #run<D>(name: string, job: RunningJob, handler: (run: JobRun<D>) => Promise<void>): Promise<void> {
    const { log, metrics } = this.#options
    const started = performance.now()
    const done = (outcome: 'ok' | 'failed') =>
      metrics.jobs.observe({ job_name: name, outcome }, (performance.now() - started) / 1000)
    try {
      await handler({ data: job.attrs.data as D, touch: () => job.touch(), signal: this.#draining.signal })
      done('ok')
    } catch (error) {
      done('failed')
      log.warn({ job: name, err: error }, 'job failed; it runs again at its next time')
      throw new Error(`job ${name} failed`) // the reason stays in our log: Agenda stores messages, and they may hold secrets
    }
  }
}

/** What a run uses of Agenda's job. */
interface RunningJob {
  attrs: { data: unknown }
  touch(): Promise<void>
}
