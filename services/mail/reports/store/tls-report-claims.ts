/** Which worker makes the TLS report of a domain and day, and who has it already. */
import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { TLS_DAYS, type TlsDayDoc } from '../../delivery/store/tls-days.ts'

/** Minutes until a report is tried again; all of them are about 22 hours. */
const WAITS_MINUTES = [15, 30, 60, 120, 240, 360, 480]

/** Claims of due reports. */
export function createTlsReportClaims(db: Db, now: () => Date) {
  const days = collectionOf(db, TLS_DAYS)
  return {
    /** The next due report, for one worker: unless it writes what became of it, another one takes it after `leaseMs`. */
    async claim(leaseMs: number): Promise<TlsDayDoc | undefined> {
      const at = now()
      const found = await days.findOneAndUpdate(
        { due_at: { $lte: at } },
        { $set: { due_at: new Date(at.getTime() + leaseMs) }, $inc: { tries: 1 } },
        { sort: { due_at: 1 }, returnDocument: 'after' },
      )
      return found ?? undefined
    },

    /** This destination has the report, or never gets it. */
    async finishDestination({ _id }: TlsDayDoc, key: string): Promise<void> {
      await days.updateOne({ _id }, { $addToSet: { finished: key } }, { writeConcern: { w: 'majority' } })
    },

    /** Nothing is left to do for the report; its counts are removed. */
    async finish({ _id }: TlsDayDoc): Promise<void> {
      await days.updateOne({ _id }, { $unset: { due_at: '', policies: '' } })
    },

    /** Tries the report again later. */
    async postpone({ _id, tries }: TlsDayDoc): Promise<void> {
      const minutes = WAITS_MINUTES[(tries ?? 1) - 1] ?? 0
      await days.updateOne({ _id }, { $set: { due_at: new Date(now().getTime() + minutes * 60_000) } })
    },

    /** True for the last try. */
    isLast: ({ tries }: Pick<TlsDayDoc, 'tries'>): boolean => (tries ?? 0) > WAITS_MINUTES.length,
  }
}
