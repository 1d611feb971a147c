/** Fields of records that Kubernetes resources may manage. */

import {
  date,
  type Fields,
  flag,
  oneOf,
  optional,
  optionalUnchecked,
  part,
  required,
  text,
} from '../database/fields.ts'
import type { Sentence } from '../sentences/sentence.ts'

/** The resource that manages a record. */
export const managedBy = optional(part({ kind: text, namespace: text, name: text, uid: text }))

/**
 * The resource that created a record and was deleted with Retain: resources of its namespace take the record over without
 * adopting it.
 */
export const releasedBy = optional(part({ kind: text, namespace: text, name: text, uid: text }))

/** `message` is the English text of `sentence`, which a state that a release before 0.2.0 stored does not have. */
const message = { message: text, sentence: optionalUnchecked<Sentence>() }
const condition = part({ type: text, status: oneOf('True', 'False', 'Unknown'), reason: text, ...message })

/** The resource and its state as the operator last saw it; the state is absent until then. */
export const managed = {
  managed_by: managedBy,
  k8s: optional(part({ ready: flag, reason: text, ...message, conditions: required([condition]), observed_at: date })),
}

export type ManagedFields = Fields<typeof managed>
export type ManagedBy = NonNullable<ManagedFields['managed_by']>
export type ResourceState = NonNullable<ManagedFields['k8s']>
