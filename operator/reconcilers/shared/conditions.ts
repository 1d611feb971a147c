/** Conditions of a resource: pure functions of the previous conditions, the current ones and the time. */

import { isDeepStrictEqual } from 'node:util'
import { HOUR_MS } from '../../../services/platform/durations.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { inEnglish, type Sentence } from '../../../services/platform/sentences/sentence.ts'
import type { Condition } from '../../resources/kind.ts'

/** A condition as a reconciler sets it; {@link toConditions} adds generation and transition time. */
export interface ConditionState {
  type: string
  status: Condition['status']
  /** One CamelCase word for programs. */
  reason: string
  /** The English text of `sentence`: what is wrong and what to do. */
  message: string
  /** Absent in a condition that was read from Kubernetes. */
  sentence?: Sentence
}

/** Status True. */
export function good(type: string, reason: string, given: Sentence): ConditionState {
  return condition(type, 'True', reason, given)
}

/** Status False. */
export function bad(type: string, reason: string, given: Sentence): ConditionState {
  return condition(type, 'False', reason, given)
}

/** Status Unknown: it cannot be determined now. */
export function unknown(type: string, reason: string, given: Sentence): ConditionState {
  return condition(type, 'Unknown', reason, given)
}

/** Why a condition is as it is. The status of another resource has only the English text. */
export function sentenceOf({ message, sentence }: Pick<ConditionState, 'message' | 'sentence'>): Sentence {
  return sentence ?? verbatim(message)
}

function condition(type: string, status: Condition['status'], reason: string, given: Sentence): ConditionState {
  return { type, status, reason, message: inEnglish(given), sentence: given }
}

/** Longest message of a condition in our CRDs. */
const MESSAGE = 4_096

/** What a cut leaves of a character beyond the basic plane: the API server would store another one in its place. */
const HALF_PAIR = /[\uD800-\uDBFF]$/

/** The beginning of a text for the status; `most` counts UTF-16 units. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(HALF_PAIR, '')
}

/**
 * Conditions that `Ready` leaves out. A receiver that refuses mail of a domain does not keep the domain from sending, nor does
 * one that refuses events make a webhook wrong, and what waits for the resource to be ready cannot do anything about it.
 */
const NOT_IN_READY: ReadonlySet<string> = new Set(['Authenticated', 'Delivering'])

/**
 * `Ready` sums up the others: the first that is False decides, then the first that is Unknown; with neither it is
 * True with `message`.
 */
export function summarise(conditions: readonly ConditionState[], message: Sentence = verbatim('')): ConditionState {
  const counted = conditions.filter(({ type }) => !NOT_IN_READY.has(type))
  const first = counted.find(({ status }) => status === 'False') ?? counted.find(({ status }) => status === 'Unknown')
  if (!first) return good('Ready', 'Available', message)
  return { ...first, type: 'Ready' }
}

/** Conditions of kstatus, which are present only while they are True. */
export const PROGRESS_TYPES: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])

/**
 * Reasons of a False condition that ends without a change of the spec: another object, public DNS or a provider is waited
 * for. All other reasons are refusals.
 */
const WAITING: ReadonlySet<string> = new Set([
  'ConfigMapNotFound',
  'DependencyNotReady',
  'DomainNotUsable',
  'Draining',
  'Drifted',
  'Guidance',
  'InUse',
  'KeyMissing',
  'ProviderError',
  'Progressing',
  'RateLimited',
  'SecretNotFound',
  'TokenMissing',
  'WaitingForExternalDNS',
])

/**
 * The condition by which kstatus (Flux, Helm, Argo CD) tells progress from failure: `Stalled` when the operator can do
 * nothing until a user changes something, else `Reconciling`; undefined when the resource is ready. What `Ready` leaves
 * out counts for neither.
 */
export function progressOf(conditions: readonly ConditionState[]): ConditionState | undefined {
  const counted = conditions.filter(({ type, status }) => !NOT_IN_READY.has(type) && status !== 'True')
  const refused = counted.find(({ status, reason }) => status === 'False' && !WAITING.has(reason))
  if (refused) return { ...refused, type: 'Stalled', status: 'True' }
  const ready = summarise(conditions)
  return ready.status === 'True' ? undefined : { ...ready, type: 'Reconciling', status: 'True' }
}

/**
 * The conditions to store. A condition with an unchanged status keeps its time of transition, so that an unchanged
 * state produces an equal list and no write.
 */
export function toConditions(
  conditions: readonly ConditionState[],
  previous: readonly Condition[],
  generation: number,
  now: Date,
): Condition[] {
  return conditions.map(({ type, status, reason, message }) => {
    const before = previous.find(condition => condition.type === type)
    return {
      type,
      status,
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : toSeconds(now),
      reason,
      message: cut(message, MESSAGE),
    }
  })
}

/** A time as Kubernetes writes it, in seconds. */
export function toSeconds(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** The condition of a type. */
export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find(condition => condition.type === type)
}

/** Fields of a status that move on by themselves. */
const RESTLESS = ['lastCheckTime', 'nextCheckTime'] as const
/** So old they may become while nothing else changes. */
const REFRESH_MS = HOUR_MS

type Times = Partial<Record<(typeof RESTLESS)[number], unknown>>

/**
 * True when a status has more news than changed times, which are written once an hour: ten thousand domains that are
 * checked every quarter of an hour would otherwise cost the API server eleven writes a second.
 */
export function isWorthWriting(before: object | undefined, after: object): boolean {
  if (isDeepStrictEqual(before, after)) return false
  if (!isDeepStrictEqual(settled(before), settled(after))) return true
  const checked = (status: Times | undefined) => Date.parse(String(status?.lastCheckTime))
  const age = checked(after) - checked(before)
  return Number.isNaN(age) || age >= REFRESH_MS
}

function settled(status: object | undefined): object {
  const rest: Times = { ...status }
  for (const field of RESTLESS) delete rest[field]
  return rest
}
