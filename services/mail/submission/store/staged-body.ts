/**
 * Stores the parts of a large message while it comes in, ahead of its acceptance, so that no process holds all of it. A
 * part counts for nothing until a transaction writes the message that names it; without one, `discard` or the sweep of
 * `retention.ts` removes it.
 */
import type { Clock } from '../../../platform/clock.ts'
import { createByteLimit } from '../../../platform/concurrency/byte-limit.ts'
import { retry } from '../../../platform/concurrency/retry.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import { collectionOf, DURABLE, isDuplicateKey, isUnavailable, type Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { BODIES, bodyId, toBodyDoc } from '../../store/bodies.ts'
import { cellsOf } from '../../store/cells.ts'
import { LIFETIME_MS } from './message-documents.ts'

/** The parts of one message after its first one. One call at a time. */
export interface StagedBody {
  /** Bytes and parts that are stored. */
  readonly size: number
  readonly parts: number
  /**
   * Stores a part of at most 1 MiB durably. Resolves when its memory may be used again; rejects when it is not stored
   * as far as is known.
   */
  write(part: Buffer): Promise<void>
  /** Removes what was stored; never rejects. Only for a message of which no transaction has begun. */
  discard(): Promise<void>
}

/** Begins the body of the message with this id. */
export type StageBody = (messageId: string) => StagedBody

/**
 * Bytes of parts that are being written in parallel, over all messages: they are held compressed, as BSON and in the buffers
 * of the driver, in addition to the memory of their senders.
 */
const WRITING_BYTES = 8 * 1024 * 1024
/** How long a part is tried: an election takes about 10 s, and a client waits 3 minutes (RFC 5321 4.5.3.2.5). */
const WRITE_MS = 30_000
const TRY_MS = 10_000
const PAUSE_MS = 250

/** Makes the staging of one process. `bodyDays`: how long bodies stay after the lifetime of their message. */
export function createStaging({ mongo, clock, bodyDays }: { mongo: Mongo; clock: Clock; bodyDays: number }): StageBody {
  const bodies = collectionOf(mongo.db, BODIES)
  const memory = createByteLimit(WRITING_BYTES)

  const insert = async (messageId: string, number: number, part: Buffer): Promise<void> => {
    // The message is accepted later, so it lives longer than if it were now: by less than a day.
    const exp = new Date(clock.now().getTime() + LIFETIME_MS + (bodyDays + 1) * DAY_MS)
    const document = toBodyDoc(messageId, number, part, exp)
    const write = async () => {
      try {
        await withTimeout(TRY_MS, bodies.insertOne(document, DURABLE))
      } catch (error) {
        if (!isDuplicateKey(error)) throw error // an earlier try was stored after all
      }
    }
    await retry(write, { on: isUnavailable, pauseMs: PAUSE_MS, timeoutMs: WRITE_MS })
  }

  return messageId => {
    let size = 0
    let parts = 0
    return {
      get size() {
        return size
      },
      get parts() {
        return parts
      },
      async write(part) {
        const leave = await memory.enter(part.length)
        await insert(messageId, parts + 1, part).finally(leave)
        parts++
        size += part.length
      },
      async discard() {
        // One more than is known to be stored: of the last one the outcome may be unknown.
        const ids = Array.from({ length: parts + 1 }, (_, n) => bodyId(messageId, n + 1))
        await withTimeout(TRY_MS, bodies.deleteMany({ _id: { $in: ids }, ...cellsOf(mongo.db).of(ids) })).catch(
          () => undefined,
        )
      },
    }
  }
}
