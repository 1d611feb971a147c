/**
 * Records Events (events.k8s.io) about resources: equal ones become a series, one object cannot flood the cluster,
 * and a full queue or a terminating namespace costs an Event, never a reconciliation.
 */
import { randomBytes } from 'node:crypto'
import type { Log } from '../../services/platform/observability/log.ts'
import { API_VERSION, type Metadata } from '../resources/kind.ts'
import type { KubeClient } from './client.ts'
import { microTime } from './leader-election.ts'

/** What happened. `action` is a verb such as PublishDNS, `reason` one CamelCase word. */
export interface EventInput {
  type: 'Normal' | 'Warning'
  reason: string
  action: string
  note: string
}

/** The object that an event is about. */
export interface Regarding {
  kind: string
  metadata: Pick<Metadata, 'name' | 'namespace' | 'uid' | 'resourceVersion'>
}

/** Receives events and sends them in the background. */
export interface Recorder {
  record(regarding: Regarding, event: EventInput): void
  /** Sends waiting events for at most this many milliseconds. */
  flush(timeoutMs: number): Promise<void>
}

/** Limits of client-go's recorder. */
const QUEUE = 1_000
const SERIES_IDLE_MS = 6 * 60_000
const SERIES_REFRESH_MS = 30 * 60_000
const BURST = 25
const REFILL_MS = 300_000
const NOTE_BYTES = 1_000

interface Series {
  path: string
  name: string
  count: number
  firstAt: number
  lastAt: number
  sentAt: number
}

/** A recorder for one process. `now` is in milliseconds. */
export function createRecorder(client: KubeClient, instance: string, log: Log, now: () => number): Recorder {
  const series = new Map<string, Series>()
  const allowance = createAllowance(now)
  let waiting = 0
  let chain = Promise.resolve()
  /** A series whose event was refused or deleted is forgotten: the next equal one creates an event again. */
  const send = (key: string, work: () => Promise<unknown>) => {
    if (waiting >= QUEUE) return void series.delete(key)
    waiting++
    chain = chain
      .then(work)
      .catch((error: unknown) => {
        series.delete(key)
        log.debug({ err: error }, 'an event was not taken')
      })
      .then(() => {
        waiting--
      })
  }
  /** The map is in the order of last use: entries to prune are at its beginning. */
  const prune = () => {
    for (const [key, entry] of series)
      if (now() - entry.lastAt > SERIES_IDLE_MS) series.delete(key)
      else break
  }
  const repeat = (key: string, entry: Series) => {
    entry.count++
    entry.lastAt = now()
    series.delete(key)
    series.set(key, entry)
    // The second one opens the series; later ones only refresh it now and then.
    if (entry.count > 2 && now() - entry.sentAt < SERIES_REFRESH_MS) return
    entry.sentAt = now()
    const body = { series: { count: entry.count, lastObservedTime: microTime(new Date(entry.lastAt)) } }
    send(key, () => client.request({ method: 'PATCH', path: `${entry.path}/${entry.name}`, body, patch: 'merge' }))
  }
  return {
    record({ kind, metadata }, { type, reason, action, note }) {
      prune()
      const key = [metadata.uid, type, reason, action, note].join('\u0000')
      const known = series.get(key)
      if (known) return repeat(key, known)
      if (!allowance.take(metadata.uid)) return
      const at = now()
      // The API server takes events about cluster-scoped objects in this namespace only.
      const namespace = metadata.namespace || 'default'
      const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
      const name = `${prefixOf(metadata.name)}.${at.toString(16)}${randomBytes(3).toString('hex')}`
      series.set(key, { path, name, count: 1, firstAt: at, lastAt: at, sentAt: at })
      const body = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name, namespace },
        eventTime: microTime(new Date(at)),
        reportingController: 'postwright.dev/operator',
        reportingInstance: instance.slice(0, 128),
        type,
        reason,
        action,
        note: cutToBytes(note, NOTE_BYTES),
        regarding: { apiVersion: API_VERSION, kind, ...pick(metadata) },
      }
      send(key, () => client.request({ method: 'POST', path, body }))
    },
    async flush(timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, timeoutMs)
      await Promise.race([chain, promise])
      clearTimeout(timer)
    },
  }
}

/**
 * The beginning of a long name that leaves room for the rest; the API server allows no dot and no hyphen before a dot.
 */
function prefixOf(name: string): string {
  return name.slice(0, 200).replace(/[.-]+$/, '')
}

/** The longest beginning of a text within a limit of UTF-8 bytes, which is what the API server counts. */
function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}

function pick({ name, namespace, uid, resourceVersion }: Regarding['metadata']) {
  return { name, ...(namespace ? { namespace } : {}), uid, resourceVersion }
}

/** A burst per object, then one event each five minutes. */
function createAllowance(now: () => number) {
  const buckets = new Map<string, { left: number; at: number }>()
  return {
    take(uid: string): boolean {
      for (const [id, { left, at }] of buckets)
        if (left + (now() - at) / REFILL_MS >= BURST) buckets.delete(id)
        else break
      const bucket = buckets.get(uid) ?? { left: BURST, at: now() }
      const left = Math.min(BURST, bucket.left + (now() - bucket.at) / REFILL_MS)
      if (left < 1) return false
      buckets.delete(uid)
      buckets.set(uid, { left: left - 1, at: now() })
      return true
    },
  }
}
