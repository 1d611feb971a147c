/**
 * Agenda's storage with the database's time. Agenda reads the machine's clock everywhere; its times are translated here
 * on their way into the database and out of it, so that a machine with a wrong clock neither runs jobs early, nor takes
 * over jobs that run elsewhere, nor leaves locks and next runs in the far future (ADR 63).
 */
import { MongoJobRepository } from '@agendajs/mongo-backend'
import { type Agenda, type AgendaBackend, Job, type JobParameters, type JobRepositoryOptions } from 'agenda'
import type { Clock } from '../clock.ts'
import type { Db } from '../database/mongo.ts'

/** Dates of a job that Agenda compares with the machine's clock. */
const COMPARED = ['nextRunAt', 'lockedAt'] as const
/** Dates that are only reported. */
const REPORTED = ['lastRunAt', 'lastFinishedAt', 'failedAt'] as const
/** Cron times are full minutes: a run that starts a moment early must not find its own time as the next one. */
const EARLY_MS = 1_000

/** Connects; afterwards `backend` has nothing left to do that can fail. */
export async function openJobs(
  db: Db,
  collection: string,
  clock: Clock,
): Promise<{ backend: AgendaBackend; agendaIs(agenda: Agenda): void }> {
  const repository = new DatabaseTimeRepository(db, collection, clock)
  // Agenda ends the process when its own call of `connect` rejects.
  await repository.connect()
  return {
    backend: {
      name: 'MongoDB',
      repository,
      ownsConnection: false,
      connect: async () => {},
      disconnect: async () => {},
    },
    agendaIs: agenda => {
      repository.agenda = agenda
    },
  }
}

class DatabaseTimeRepository extends MongoJobRepository {
  agenda: Agenda | undefined
  readonly #clock: Clock
  /**
   * Next run of the job of a run, by the `lastRunAt` of the run: computed at its start, independent of later clock
   * changes.
   */
  readonly #next = new WeakMap<Date, Date | null>()

  constructor(db: Db, collection: string, clock: Clock) {
    super({ mongo: db, db: { collection } })
    this.#clock = clock
  }

  override async getNextJobToRun(
    name: string,
    nextScanAt: Date,
    lockDeadline: Date,
    _: Date | undefined,
    options: JobRepositoryOptions | undefined,
  ): Promise<JobParameters | undefined> {
    const shift = this.#shift()
    const job = await super.getNextJobToRun(
      name,
      shifted(nextScanAt, shift),
      shifted(lockDeadline, shift),
      this.#clock.now(),
      options,
    )
    return job && withDates(job, [...COMPARED, ...REPORTED], date => shifted(date, -shift))
  }

  override async saveJobState(job: JobParameters, options: JobRepositoryOptions | undefined): Promise<void> {
    const shift = this.#shift()
    const stored = withDates(job, REPORTED, date => shifted(date, shift))
    // Whoever saves a job that it holds has just started it or extends its lock.
    if (job.lockedAt) stored.lockedAt = this.#clock.now()
    stored.nextRunAt = this.#nextRun(job, shift)
    await super.saveJobState(stored, options)
  }

  /** Milliseconds from the machine's time to the database's. */
  #shift(): number {
    return this.#clock.now().getTime() - Date.now()
  }

  #nextRun(job: JobParameters, shift: number): Date | null {
    const { lastRunAt, repeatInterval, repeatTimezone, nextRunAt } = job
    if (!lastRunAt || repeatInterval === undefined || !this.agenda) return nextRunAt && shifted(nextRunAt, shift)
    const known = this.#next.get(lastRunAt)
    if (known !== undefined) return known
    const start = this.#clock.now().getTime()
    const after = new Date(typeof repeatInterval === 'number' ? start : start + EARLY_MS)
    const again = new Job(this.agenda, { ...job, lastRunAt: after })
    const next = again.repeatEvery(repeatInterval, { ...(repeatTimezone && { timezone: repeatTimezone }) }).attrs
      .nextRunAt
    this.#next.set(lastRunAt, next)
    return next
  }
}

function shifted(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms)
}

/** A copy with some of its dates changed. */
function withDates(
  job: JobParameters,
  fields: readonly ((typeof COMPARED)[number] | (typeof REPORTED)[number])[],
  change: (date: Date) => Date,
): JobParameters {
  const copy = { ...job }
  for (const field of fields) {
    const date = job[field]
    if (date) copy[field] = change(date)
  }
  return copy
}
