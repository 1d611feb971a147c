/** The jobs by which Agenda invites workers to slots: one for each slot. The slot documents decide who owns a slot. */

import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'

/** Dependencies of {@link defineSlotJobs}. */
export interface SlotJobsOptions {
  /** Agenda instance of the slots only. */
  jobs: Jobs
  /** Number of slots. */
  slots: number
  /** Length of a run in milliseconds; after it another worker may be invited. */
  runMs: number
  leases: InvitedLeases
}

/** What a job asks of the leases. */
export interface InvitedLeases {
  isOurs(slot: number): boolean
  /** Takes the slot if it is free, while this worker has less than its share. */
  takeInvited(slot: number, signal: AbortSignal): Promise<void>
  hasTooMany(): boolean
  /** Gives the slot back, unless that is under way. */
  giveBackInvited(slot: number): Promise<void>
}

/** Their key is the slot's number. */
const JOB = 'delivery-slot'
const AGENDA_LOCK_MS = 30_000
/** How soon a slot's job comes up again after a run. */
const INVITE_MS = 5_000

/** Defines the jobs, to be seeded with {@link seedSlotJobs} afterwards. */
export function defineSlotJobs({ jobs, slots, runMs, leases }: SlotJobsOptions): void {
  /** Stays with the slot for one run. It stays ours over the end; only a worker with more than its share lets go. */
  const hold = async (slot: number, touch: () => Promise<void>, signal: AbortSignal) => {
    const end = performance.now() + runMs
    while (leases.isOurs(slot) && performance.now() < end && !signal.aborted && !leases.hasTooMany()) {
      await abortableDelay(Math.min(AGENDA_LOCK_MS / 3, runMs), signal)
      await touch()
    }
    if (!signal.aborted && leases.hasTooMany()) await leases.giveBackInvited(slot)
  }

  jobs.define<{ key: string }>(
    JOB,
    { concurrency: slots, lockLifetimeMs: AGENDA_LOCK_MS },
    async ({ data, touch, signal }) => {
      const slot = Number(data.key)
      await leases.takeInvited(slot, signal)
      if (leases.isOurs(slot)) await hold(slot, touch, signal)
    },
  )
}

/** Makes the jobs and has them run immediately. */
export async function seedSlotJobs({ jobs, slots }: Pick<SlotJobsOptions, 'jobs' | 'slots'>): Promise<void> {
  for (let slot = 0; slot < slots; slot++) await jobs.seed(JOB, String(slot), { everyMs: INVITE_MS })
  await hurrySlotJobs(jobs)
}

/** Has the jobs run immediately: slots were given back. */
export function hurrySlotJobs(jobs: Jobs): Promise<void> {
  return jobs.hurry(JOB)
}
