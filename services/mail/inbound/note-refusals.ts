/** Counts the failures of authentication that other servers report, as a worker does those of its own attempts. */
import { repeat } from '../../platform/concurrency/abortable-delay.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Foundation } from '../../platform/process/run.ts'
import type { Running } from '../../platform/running.ts'
import { RefusalRecorder } from '../domains/record-refusals.ts'
import { isProvider } from '../store/rules/assign-slot.ts'
import type { RecordDeps } from './record-report.ts'

const FLUSH_MS = 5_000
/** For the last counts at the stop, in milliseconds: they are only shown. */
const LAST_FLUSH_MS = 2_000

/** Counts in memory and writes every five seconds; a process that is killed loses the counts of that time. */
export function startNoting({
  mongo,
  clock,
  log,
  metrics,
}: Pick<Foundation, 'mongo' | 'clock' | 'log' | 'metrics'>): Running & { note: RecordDeps['noteRefusal'] } {
  const recorder = new RefusalRecorder({ db: mongo.db, clock })
  const stopping = new AbortController()
  const onError = (error: unknown) => log.warn({ err: error }, 'authentication refusals were not recorded')
  const running = repeat({ ms: FLUSH_MS, signal: stopping.signal, onError }, () => recorder.flush())
  return {
    note(domainId, refusal) {
      metrics.authenticationRefusals.inc({ site: isProvider(refusal.site) ? refusal.site : 'other' })
      recorder.refused(domainId, refusal)
    },
    async stop() {
      stopping.abort()
      await running
      await withTimeout(LAST_FLUSH_MS, recorder.flush()).catch(onError)
    },
  }
}
