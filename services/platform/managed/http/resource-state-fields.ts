/** The state of a Kubernetes resource in API answers, without its time, which the APIs write differently. */

import { sentenceFields } from '../../http/sentence-fields.ts'
import type { ResourceState } from '../rules/managed-by.ts'

/** Fields of the state; Kubernetes gives conditions more fields than answers show. */
export function resourceStateFields({ ready, reason, message, sentence, conditions }: ResourceState) {
  return {
    ready,
    reason,
    ...sentenceFields('message', sentence ?? message),
    conditions: conditions.map(one => ({
      type: one.type,
      status: one.status,
      reason: one.reason,
      ...sentenceFields('message', one.sentence ?? one.message),
    })),
  }
}
