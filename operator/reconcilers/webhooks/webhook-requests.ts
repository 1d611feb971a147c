/** What annotations and intervals of a WebhookEndpoint ask for now, and when to look again: pure. */
import { DAY_MS } from '../../../services/platform/durations.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { WebhookEndpoint } from '../../resources/webhook-endpoint.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'

/** Annotation: a time. A webhook that the platform disabled before it is enabled again. */
export const ENABLE_AT = 'postwright.dev/enable-at'
/** Annotation: a time. A signing secret that was made before it is replaced, once. */
const ROTATE_AT = 'postwright.dev/rotate-at'

/** Requests of a resource, as far as their time has come. */
export interface WebhookRequests {
  enableAt: Date | undefined
  rotateBefore: Date | undefined
  /** When the next annotation takes effect. */
  next: Date | undefined
}

type Resource = Pick<WebhookEndpoint, 'spec' | 'metadata'>

/** The requests at this time, or the condition for an annotation that is no time. */
export function requestsOf({ spec, metadata }: Resource, now: Date): WebhookRequests | { condition: ConditionState } {
  const times: (Date | undefined)[] = []
  for (const annotation of [ENABLE_AT, ROTATE_AT]) {
    const given = metadata.annotations[annotation]
    const time = given === undefined || given === '' ? undefined : new Date(given)
    if (time && Number.isNaN(time.getTime()))
      return { condition: bad('Accepted', 'InvalidAnnotation', sentence('resource.annotation_time', { annotation })) }
    times.push(time)
  }
  const [enableAt, rotateAt] = times
  const due = (time: Date | undefined) => (time && time <= now ? time : undefined)
  const days = spec.rotationIntervalDays
  const byInterval = days > 0 ? new Date(now.getTime() - days * DAY_MS) : undefined
  return {
    enableAt: due(enableAt),
    rotateBefore: latest(due(rotateAt), byInterval),
    next: earliest(...times.filter(time => time && time > now)),
  }
}

/** When a resource has to be looked at again; undefined: no time brings a change. */
export function nextLook({ spec }: Pick<Resource, 'spec'>, { next }: WebhookRequests, madeAt: Date): Date | undefined {
  const days = spec.rotationIntervalDays
  return earliest(next, days > 0 ? new Date(madeAt.getTime() + days * DAY_MS) : undefined)
}

function latest(...times: (Date | undefined)[]): Date | undefined {
  return times.reduce((a, b) => (a && b ? (a > b ? a : b) : (a ?? b)), undefined)
}

function earliest(...times: (Date | undefined)[]): Date | undefined {
  return times.reduce((a, b) => (a && b ? (a < b ? a : b) : (a ?? b)), undefined)
}
