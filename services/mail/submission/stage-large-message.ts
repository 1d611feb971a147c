/** Checks the rest of a large message and stores it, part by part, while it comes in. */
import type { Clock } from '../../platform/clock.ts'
import { createLineScanner } from '../message/line-endings.ts'
import type { Cells } from '../store/cells.ts'
import { beginKeyHash } from './idempotency.ts'
import type { StageBody } from './store/staged-body.ts'
import type { OpenRest } from './submission.ts'

/** Makes the function that begins the rest of a message. */
export function createOpenRest({
  clock,
  cells,
  stageBody,
}: {
  clock: Clock
  cells: Pick<Cells, 'newMessageId'>
  stageBody: StageBody
}): OpenRest {
  return submission => {
    const id = cells.newMessageId(clock.now())
    const body = stageBody(id)
    const lines = createLineScanner()
    const hash = beginKeyHash(submission)
    lines.scan(submission.raw)
    return {
      async write(part) {
        lines.scan(part)
        hash?.update(part)
        await body.write(part)
      },
      discard: () => body.discard(),
      finish: () => ({
        id,
        size: body.size,
        parts: body.parts,
        lineError: lines.end(),
        hash: hash?.digest('base64url'),
        discard: () => body.discard(),
      }),
    }
  }
}
