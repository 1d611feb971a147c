/**
 * Keeps a cache equal to a list of the API server until it is stopped: streaming list with a fall-back to pages,
 * bookmarks, a new list after 410, growing pauses after failures, a watchdog for silent connections.
 */
import { abortableDelay } from '../../services/platform/concurrency/abortable-delay.ts'
import type { Log } from '../../services/platform/observability/log.ts'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import { createBackoff } from './backoff.ts'
import { type KubeClient, KubeError, type Query } from './client.ts'
import type { KubeObject, ObjectCache } from './object-cache.ts'
import { keyOf } from './object-paths.ts'

/** What a reflector watches. */
export interface ReflectorOptions {
  client: KubeClient
  /** Address of the list. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  cache: ObjectCache
  /** The namespace that the list covers; undefined: all. */
  scope?: string | undefined
  /** Label of the metrics: the kind. */
  name: string
  log: Log
  metrics: OperatorMetrics
  /** Milliseconds without a byte after which the connection counts as dead; bookmarks arrive each minute. */
  silenceMs?: number
  /** Shortest pause after a failure, in milliseconds. */
  pauseMs?: number
  /** Logged while the server does not know the kind; default names our CustomResourceDefinitions. */
  missing?: string
}

/** A running reflector. */
export interface Reflector {
  /** Label of what it watches. */
  name: string
  /** Resolves when the first list is complete. */
  synced: Promise<void>
  isSynced(): boolean
  stop(): Promise<void>
}

const SILENCE_MS = 120_000
const PAUSE_MS = 800
const LONGEST_PAUSE_MS = 30_000
const PAGE = 500
/** A session that lasted this long, or delivered a change, resets the pause before the next one. */
const HEALTHY_MS = 1_000

const DEFINITION_MISSING =
  'the API server does not know this kind: its CustomResourceDefinition is missing; install the chart with crds.enabled=true, or apply the folder crds'

/** Starts watching. */
export function startReflector(options: ReflectorOptions): Reflector {
  const { cache, log, metrics, name } = options
  const stopped = new AbortController()
  const synced = Promise.withResolvers<void>()
  const state: SessionState = { streaming: true, revision: undefined, first: true, lively: false }
  let isSynced = false
  const onList = (objects: Iterable<KubeObject>) => {
    cache.replace(objects, state.first, options.scope)
    state.first = false
    isSynced = true
    synced.resolve()
  }
  const backoff = createBackoff(options.pauseMs ?? PAUSE_MS, LONGEST_PAUSE_MS, Math.random)
  const loop = async () => {
    while (!stopped.signal.aborted) {
      const started = performance.now()
      state.lively = false
      const reason = await session(options, state, stopped.signal, onList).catch(reasonOf)
      if (stopped.signal.aborted) return
      report(reason)
      if (state.lively || performance.now() - started >= HEALTHY_MS) backoff.reset()
      await abortableDelay(Math.max(reason.retryAfterMs ?? 0, backoff.next()), stopped.signal)
    }
  }
  const report = ({ label, error }: Ended) => {
    metrics.watchRestarts.inc({ kind: name, reason: label })
    if (label === 'expired') state.revision = undefined
    if (error instanceof KubeError && error.status === 404)
      log.error({ kind: name }, options.missing ?? DEFINITION_MISSING)
    else if (label !== 'ended') log.warn({ kind: name, reason: label, err: error }, 'watch restarts')
  }
  const running = loop()
  return {
    name,
    synced: synced.promise,
    isSynced: () => isSynced,
    async stop() {
      stopped.abort()
      await running
    },
  }
}

interface SessionState {
  /** Whether the server streams the list; turned off for good when it refuses. */
  streaming: boolean
  /** Revision to go on from; undefined: list first. */
  revision: string | undefined
  first: boolean
  /** The present session brought an object or a bookmark. */
  lively: boolean
}

/** Why a session ended. */
interface Ended {
  label: 'ended' | 'expired' | 'silent' | 'refused' | 'failed'
  error?: unknown
  retryAfterMs?: number | undefined
}

class SilentError extends Error {}

function reasonOf(error: unknown): Ended {
  if (error instanceof SilentError) return { label: 'silent' }
  if (!(error instanceof KubeError)) return { label: 'failed', error }
  if (error.status === 410) return { label: 'expired' }
  return { label: 'refused', error, retryAfterMs: error.retryAfterMs }
}

/** One list, if needed, and one watch. */
async function session(
  options: ReflectorOptions,
  state: SessionState,
  stopped: AbortSignal,
  onList: (objects: Iterable<KubeObject>) => void,
): Promise<Ended> {
  if (state.revision === undefined && !state.streaming) {
    const { objects, revision } = await listPages(options)
    onList(objects)
    state.revision = revision
  }
  const query: Query = {
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds: Math.round(300 + Math.random() * 300),
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    ...(state.revision === undefined
      ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion: state.revision }),
  }
  const collecting = state.revision === undefined ? new Map<string, KubeObject>() : undefined
  try {
    await consume(options, query, stopped, eventHandler(options, state, collecting, onList))
    return { label: 'ended' }
  } catch (error) {
    // 400, 422: the server does not know streaming lists, or has them turned off.
    if (collecting && error instanceof KubeError && (error.status === 400 || error.status === 422)) {
      state.streaming = false
      return { label: 'ended' }
    }
    throw error
  }
}

interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: KubeObject & { code?: number; reason?: string; message?: string }
}

/** Handles the events of one session; with `collecting` those before the end-of-list bookmark make up the list. */
function eventHandler(
  { cache, metrics, name }: ReflectorOptions,
  state: SessionState,
  collecting: Map<string, KubeObject> | undefined,
  onList: (objects: Iterable<KubeObject>) => void,
) {
  let list = collecting
  const change = (type: WatchEvent['type'], object: KubeObject) => {
    const key = keyOf({ namespace: object.metadata.namespace ?? '', name: object.metadata.name })
    if (type === 'DELETED') list ? list.delete(key) : cache.remove(object)
    else list ? list.set(key, object) : cache.put(object)
  }
  const bookmark = (object: KubeObject) => {
    if (!list || object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return
    onList(list.values())
    list = undefined
  }
  return ({ type, object }: WatchEvent) => {
    if (type === 'ERROR') throw new KubeError(object.code ?? 500, object.reason ?? '', object.message ?? 'watch failed')
    state.lively = true
    metrics.lastEvent.set({ kind: name }, Date.now() / 1000)
    if (type === 'BOOKMARK') bookmark(object)
    else change(type, object)
    if (!list) state.revision = object.metadata.resourceVersion
    metrics.cacheObjects.set({ kind: name }, cache.size())
  }
}

/** Reads a watch to its end; a connection that stays silent for too long is cut. */
async function consume(
  { client, path, silenceMs = SILENCE_MS }: ReflectorOptions,
  query: Query,
  stopped: AbortSignal,
  handle: (event: WatchEvent) => void,
): Promise<void> {
  const silence = new AbortController()
  const watchdog = setTimeout(() => silence.abort(new SilentError()), silenceMs)
  const ended = new AbortController()
  const signal = AbortSignal.any([stopped, silence.signal, ended.signal])
  try {
    for await (const event of client.watch(path, query, signal, () => watchdog.refresh())) handle(event as WatchEvent)
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error
  } finally {
    clearTimeout(watchdog)
    ended.abort()
  }
}

interface ListAnswer {
  metadata: { resourceVersion: string; continue?: string }
  items: KubeObject[]
}

async function listPages({ client, path, labelSelector, fieldSelector }: ReflectorOptions) {
  const objects: KubeObject[] = []
  let next: string | undefined
  for (;;) {
    const query = { limit: PAGE, labelSelector, fieldSelector, continue: next }
    const { metadata, items } = await client.request<ListAnswer>({ method: 'GET', path, query })
    objects.push(...items)
    if (!metadata.continue) return { objects, revision: metadata.resourceVersion }
    next = metadata.continue
  }
}
