/** Reads reports that are sent over HTTP, a few at a time: each may take a second and tens of megabytes. */
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import { createBodyRoom, readInPlace } from '../../../platform/http/body-room.ts'
import { readBytes } from '../../../platform/http/json-body.ts'
import type { WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { MAX_FILE_BYTES } from '../rules/report-limits.ts'
import { ReportError } from '../rules/report-values.ts'
import type { DomainReportDoc } from '../store/report-model.ts'
import { type ReportDeps, type ReportedDomain, type TakenReport, takeReport } from '../take-report.ts'

/** Memory for uploads in transfer, in bytes; those of one domain or account get half of it. */
const ROOM_BYTES = 4 * MAX_FILE_BYTES
/** Reports that a process reads at the same time, and those that may wait, of one domain. */
const TURNS = { atOnce: 2, perKey: 1, waiting: 10 }

/** Takes the body of a request as a report. */
export type TakeUpload = (
  context: WebContext,
  domain: ReportedDomain,
  via: DomainReportDoc['via'],
) => Promise<TakenReport>

/** Makes the {@link TakeUpload} of a process. A report that cannot be used is `validation_failed` with the reason. */
export function createTakeUpload(deps: ReportDeps): TakeUpload {
  const room = createBodyRoom(ROOM_BYTES, MAX_FILE_BYTES, sentence('report.busy'))
  const inTurn = createFairLimiter(TURNS)
  return async (context, domain, via) => {
    if (context.is('multipart/*')) throw new ProblemError('unsupported_media_type', sentence('report.unknown_format'))
    let file: Buffer = Buffer.alloc(0)
    const release = await readInPlace(context, room(domain._id, undefined), async ({ count }) => {
      file = await readBytes(context, { bytes: MAX_FILE_BYTES, count })
    })
    try {
      return await inTurn(domain._id, () => takeReport(deps, domain, file, via))
    } catch (error) {
      if (error instanceof ReportError) throw new ProblemError('validation_failed', error.sentence)
      throw error
    } finally {
      release?.()
    }
  }
}
