/**
 * The common part of all reconcilers: reads from the cache, adds the finalizer before the first write outside, reconciles,
 * writes status and mirrored state only when they changed, and removes the finalizer when everything is undone.
 */
import { isDeepStrictEqual } from 'node:util'
import { isUnavailable } from '../../../services/platform/database/mongo.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { LaterError, type Reconcile, type RunResult, TerminalError } from '../../controller/controller.ts'
import { KubeError } from '../../kube/client.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { NotLeaderError } from '../../kube/leader-election.ts'
import { type Condition, type Kind, type Resource, SpecError } from '../../resources/kind.ts'
import {
  bad,
  type ConditionState,
  conditionOf,
  good,
  isWorthWriting,
  PROGRESS_TYPES,
  progressOf,
  summarise,
  toConditions,
  unknown,
} from './conditions.ts'
import { FINALIZER } from './finalizer.ts'
import { cacheOf, type OperatorContext } from './operator-context.ts'
import { ReportedError } from './reported-error.ts'

/** Annotation: either value stops all writes for the resource; a deletion then leaves everything as it is. */
const RECONCILE_ANNOTATION = 'postwright.dev/reconcile'
const PAUSE_VALUES: ReadonlySet<string | undefined> = new Set(['paused', 'disabled'])
/** Annotation: `true` drops the finalizer without undoing anything. */
const FORCE_ANNOTATION = 'postwright.dev/force-delete'

/** An object was deleted during the run: run again after this time. */
const GONE_MS = 5_000

/** The result of one run. */
export interface Outcome {
  /** All conditions but Ready, which sums them up. */
  conditions: readonly ConditionState[]
  /** Message of Ready when all is well; absent while a condition is not True. */
  message?: Sentence
  /** Fields of the status beside conditions. */
  status?: object
  /** Run again after this time, in milliseconds. */
  requeueAfterMs?: number
  events?: readonly EventInput[]
  /** The record in the database that carries the state for the panel. */
  recordId?: string
  /** Called after status and events were written, so that the same events are not recorded again. */
  reported?: () => void
}

/** The result of a removal: done, or why not yet and when to try again. */
export type Removal =
  | { done: true; events?: readonly EventInput[] }
  | { done: false; condition: ConditionState; requeueAfterMs: number }

/** The state of a resource as its record in the database carries it for the panel. */
export interface ResourceState {
  ready: boolean
  reason: string
  message: string
  sentence?: Sentence
  conditions: ConditionState[]
  observed_at: Date
}

/** Reconciles the resources of one kind. */
export interface Reconciler<Spec, Status> {
  kind: Kind<Spec, Status>
  ensure(resource: Resource<Spec, Status>): Promise<Outcome>
  /** Reverts `ensure`; idempotent. With `retain` nothing is deleted, whatever the spec. */
  remove(resource: Resource<Spec, Status>, retain: boolean): Promise<Removal>
  /** A forced deletion undoes nothing: keeps what Kubernetes would delete together with the resource. */
  abandon?(resource: Resource<Spec, Status>): Promise<void>
  /** Writes the state onto the record for the panel; `uid` is the resource's. */
  mirror(recordId: string, uid: string, state: ResourceState): Promise<void>
}

type Known = Resource<unknown, { conditions?: Condition[]; observedGeneration?: number }>

/** The reconcile function of a kind, for its controller. */
export function createReconcile<Spec, Status>(
  context: OperatorContext,
  reconciler: Reconciler<Spec, Status>,
): Reconcile {
  const { kind } = reconciler
  const plain = kind as unknown as Kind
  const cache = cacheOf(context, plain)
  const mirror = createMirror(context, reconciler)
  return async key => {
    const object = cache.get(key)
    if (!object) return {}
    context.assertLeader()
    try {
      const resource = kind.parse(object)
      if (resource.metadata.deletionTimestamp !== undefined) {
        mirror.forget(resource.metadata.uid)
        return await undo(context, reconciler, resource)
      }
      if (isPaused(resource)) return await report(context, plain, resource as Known, pausedOutcome(resource as Known))
      return await make(context, reconciler, mirror, await withFinalizer(context, kind, resource))
    } catch (error) {
      if (error instanceof SpecError) return invalidSpec(context, plain, error)
      // The resource was deleted, which the watch will report; or an object that it names was, which nothing reports.
      if (error instanceof KubeError && error.status === 404) return { requeueAfterMs: GONE_MS }
      throw error
    }
  }
}

function isPaused({ metadata }: Pick<Resource, 'metadata'>): boolean {
  return PAUSE_VALUES.has(metadata.annotations[RECONCILE_ANNOTATION])
}

async function make<Spec, Status>(
  context: OperatorContext,
  reconciler: Reconciler<Spec, Status>,
  mirror: Mirror,
  resource: Resource<Spec, Status>,
): Promise<RunResult> {
  const kind = reconciler.kind as unknown as Kind
  let outcome: Outcome
  try {
    outcome = await reconciler.ensure(resource)
  } catch (error) {
    const condition = conditionOfError(error)
    if (condition) await report(context, kind, resource as Known, { conditions: [condition] })
    throw error
  }
  const result = await report(context, kind, resource as Known, outcome)
  outcome.reported?.()
  await mirror.write(resource.metadata.uid, outcome)
  return result
}

/** How an unexpected failure shows in the status; undefined for those that concern only this process. */
function conditionOfError(error: unknown): ConditionState | undefined {
  if (error instanceof ReportedError) return error.condition
  if (error instanceof KubeError && error.status === 403)
    return unknown('Accepted', 'Forbidden', sentence('resource.forbidden', { detail: verbatim(error.message) }))
  if (error instanceof NotLeaderError || error instanceof KubeError) return undefined
  if (isUnavailable(error)) return unknown('Accepted', 'DatabaseUnavailable', sentence('resource.database_unavailable'))
  if (error instanceof TerminalError || error instanceof LaterError) return undefined
  // The message of an unknown error may contain anything; the log has it.
  return unknown('Accepted', 'InternalError', sentence('resource.internal_error'))
}

/** Writes the status if it changed, and records transitions of Ready as Events. */
async function report(context: OperatorContext, kind: Kind, resource: Known, outcome: Outcome): Promise<RunResult> {
  const { metadata, status: before } = resource
  const previous = before?.conditions ?? []
  const ready = summarise(outcome.conditions, outcome.message)
  const progress = progressOf(outcome.conditions)
  const states = [ready, ...(progress ? [progress] : []), ...outcome.conditions]
  const conditions = toConditions(states, previous, metadata.generation, context.clock.now())
  const kept = keptFields(before, outcome)
  const status = { ...kept, observedGeneration: metadata.generation, conditions }
  const isQuiet = ready.status === 'True' && !outcome.events?.length
  if (isQuiet ? isWorthWriting(before, status) : !isDeepStrictEqual(before, status)) {
    const written = await context.writer.applyStatus(kind, metadata, status)
    cacheOf(context, kind).put(written)
  }
  const regarding = { kind: kind.kind, metadata }
  for (const event of outcome.events ?? []) context.recorder.record(regarding, event)
  announce(context, kind, resource, conditions)
  return outcome.requeueAfterMs === undefined ? {} : { requeueAfterMs: outcome.requeueAfterMs }
}

/** Logs a new state and records an Event; a refusal for another cause with the same reason is logged alone. */
function announce(context: OperatorContext, kind: Kind, resource: Known, conditions: readonly Condition[]): void {
  const [before, after] = [resource.status?.conditions, conditions].map(list => ({
    ready: conditionOf(list, 'Ready'),
    refusal: conditionOf(list, 'Stalled'),
  }))
  const ready = after?.ready
  if (!ready) return
  const was = before?.ready
  const isNews = was ? was.status !== ready.status || was.reason !== ready.reason : ready.status !== 'Unknown'
  const { refusal } = after
  if (isNews || (refusal && refusal.message !== before?.refusal?.message))
    logState(context, kind, resource, ready, refusal)
  if (!isNews) return
  context.recorder.record(
    { kind: kind.kind, metadata: resource.metadata },
    {
      type: ready.status === 'False' ? 'Warning' : 'Normal',
      reason: ready.reason,
      action: 'Reconcile',
      note: ready.message,
    },
  )
}

/** A refusal, or another change of state, for readers of the log who do not have the resource at hand. */
function logState(
  { log }: Pick<OperatorContext, 'log'>,
  { kind }: Pick<Kind, 'kind'>,
  { metadata: { namespace, name } }: Known,
  { status, reason, message }: Condition,
  refusal: Condition | undefined,
): void {
  const fields = { kind, namespace, name, ready: status, reason }
  if (refusal) log.warn({ ...fields, reason: refusal.reason }, `resource refused: ${refusal.message}`)
  else log.info(fields, status === 'True' ? 'resource ready' : `resource not ready: ${message}`)
}

/** Fields of the status that an outcome without new ones keeps: a failed lookup does not remove known values. */
function keptFields(before: object | undefined, outcome: Outcome): object {
  if (outcome.status) return JSON.parse(JSON.stringify(outcome.status)) as object
  const { conditions: _, observedGeneration: __, ...rest } = (before ?? {}) as Record<string, unknown>
  return rest
}

interface Mirror {
  write(uid: string, outcome: Outcome): Promise<void>
  /** Removes the last state of a deleted resource from memory. */
  forget(uid: string): void
}

/** Writes states to records, each only when it changed: a write wakes every watcher of the record. */
function createMirror<Spec, Status>(context: OperatorContext, { kind, mirror }: Reconciler<Spec, Status>): Mirror {
  const last = new Map<string, string>()
  const write: Mirror['write'] = async (uid, { recordId, conditions, message }) => {
    if (recordId === undefined) return
    const ready = summarise(conditions, message)
    const copies = conditions.map(condition => ({ ...condition }))
    const state = {
      ready: ready.status === 'True',
      reason: ready.reason,
      message: ready.message,
      conditions: copies,
      ...(ready.sentence ? { sentence: ready.sentence } : {}),
    }
    const text = JSON.stringify([recordId, state])
    if (last.get(uid) === text) return
    try {
      await mirror(recordId, uid, { ...state, observed_at: context.clock.now() })
      last.set(uid, text)
    } catch (error) {
      context.metrics.operator.mirrorFailures.inc({ kind: kind.kind })
      context.log.warn({ kind: kind.kind, record: recordId, err: error }, 'state not written to the record')
    }
  }
  return { write, forget: uid => void last.delete(uid) }
}

async function withFinalizer<Spec, Status>(
  context: OperatorContext,
  kind: Kind<Spec, Status>,
  resource: Resource<Spec, Status>,
): Promise<Resource<Spec, Status>> {
  const { metadata } = resource
  if (metadata.finalizers.includes(FINALIZER)) return resource
  const plain = kind as unknown as Kind
  const written = await context.writer.setFinalizers(plain, metadata, [...metadata.finalizers, FINALIZER])
  cacheOf(context, plain).put(written)
  return kind.parse(written)
}

async function undo<Spec, Status>(
  context: OperatorContext,
  reconciler: Reconciler<Spec, Status>,
  resource: Resource<Spec, Status>,
): Promise<RunResult> {
  const { metadata, kind } = resource
  if (!metadata.finalizers.includes(FINALIZER)) return {}
  const plain = reconciler.kind as unknown as Kind
  const forced = metadata.annotations[FORCE_ANNOTATION] === 'true'
  if (forced) await abandon(context, reconciler, resource)
  const removal: Removal = forced ? { done: true } : await reconciler.remove(resource, isPaused(resource))
  if (!removal.done) {
    await report(context, plain, resource as Known, { conditions: [removal.condition] })
    return { requeueAfterMs: removal.requeueAfterMs }
  }
  for (const event of removal.events ?? []) context.recorder.record({ kind, metadata }, event)
  if (forced)
    context.recorder.record(
      { kind, metadata },
      { type: 'Warning', reason: 'ForcedDeletion', action: 'Delete', note: 'Deleted without undoing anything.' },
    )
  const rest = metadata.finalizers.filter(name => name !== FINALIZER)
  await context.writer.setFinalizers(plain, metadata, rest)
  return {}
}

/** Never keeps a forced deletion from ending. */
async function abandon<Spec, Status>(
  { log }: Pick<OperatorContext, 'log'>,
  reconciler: Reconciler<Spec, Status>,
  resource: Resource<Spec, Status>,
): Promise<void> {
  try {
    await reconciler.abandon?.(resource)
  } catch (error) {
    log.warn({ err: error, kind: resource.kind, name: resource.metadata.name }, 'what the resource owns was not kept')
  }
}

function pausedOutcome({ status, metadata }: Known): Outcome {
  const derived = (type: string) => type === 'Ready' || type === 'Active' || PROGRESS_TYPES.has(type)
  const conditions = (status?.conditions ?? []).filter(({ type }) => !derived(type))
  const note = sentence('resource.paused', { annotation: RECONCILE_ANNOTATION, name: metadata.name })
  return { conditions: [bad('Active', 'Paused', note), ...conditions] }
}

/** A spec that this release cannot parse. A retry waits for its change. */
async function invalidSpec(context: OperatorContext, kind: Kind, error: SpecError): Promise<RunResult> {
  const status = error.status as Known['status']
  const resource: Known = { kind: kind.kind, metadata: error.metadata, spec: undefined, status }
  if (error.metadata.deletionTimestamp === undefined) {
    await report(context, kind, resource, { conditions: [bad('Accepted', 'InvalidSpec', error.sentence)] })
    throw new TerminalError(error.message)
  }
  // Without a spec nothing can be undone; the deletion must still end.
  const rest = error.metadata.finalizers.filter(name => name !== FINALIZER)
  if (rest.length < error.metadata.finalizers.length) await context.writer.setFinalizers(kind, error.metadata, rest)
  return {}
}

/** Condition Accepted with status True. */
export function accepted(message: Sentence): ConditionState {
  return good('Accepted', 'Accepted', message)
}
