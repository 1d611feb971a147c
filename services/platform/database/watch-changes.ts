/** Receives changes of records from MongoDB change streams, whichever process makes them. */
import { abortableDelay } from '../concurrency/abortable-delay.ts'
import type { Log } from '../observability/log.ts'
import type { Running } from '../running.ts'
import type { Db } from './mongo.ts'

/** A record that changed: its collection and `_id`; `document` is missing when it was removed. */
export interface RecordChange {
  collection: string
  id: unknown
  document: Record<string, unknown> | undefined
  /** Top-level fields that an update touched; undefined for anything else than an update. */
  fields: readonly string[] | undefined
}

/** Between two tries to open the stream. */
const RETRY_MS = 2_000

/**
 * Calls `onChange` for each change in these collections, and `onGap` when changes may have been missed: at the start
 * and whenever the stream could not be resumed. Runs until it is stopped.
 */
export function watchChanges(
  db: Db,
  log: Log,
  collections: readonly string[],
  onChange: (change: RecordChange) => void,
  onGap: () => void,
): Running {
  const stopping = new AbortController()
  const pipeline = [{ $match: { 'ns.coll': { $in: [...collections] } } }]
  const open = () => db.watch(pipeline, { fullDocument: 'updateLookup' })
  let stream = open()
  const read = async () => {
    for await (const change of stream) {
      if (!('documentKey' in change) || !('ns' in change) || !('coll' in change.ns)) continue
      const document = 'fullDocument' in change ? (change.fullDocument as Record<string, unknown>) : undefined
      onChange({ collection: change.ns.coll, id: change.documentKey._id, document, fields: touched(change) })
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      onGap()
      await read().catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'the stream of changes broke; it is opened again')
      })
      await stream.close().catch(() => undefined)
      await abortableDelay(RETRY_MS, stopping.signal)
      if (!stopping.signal.aborted) stream = open()
    }
  }
  const running = loop()
  return {
    async stop() {
      stopping.abort()
      await stream.close().catch(() => undefined)
      await running
    },
  }
}

function touched(change: object): string[] | undefined {
  if (!('updateDescription' in change)) return undefined
  const { updatedFields, removedFields } = change.updateDescription as UpdateDescription
  const paths = [...Object.keys(updatedFields ?? {}), ...(removedFields ?? [])]
  return [...new Set(paths.map(path => path.split('.')[0] ?? path))]
}

interface UpdateDescription {
  updatedFields?: Record<string, unknown>
  removedFields?: string[]
}
