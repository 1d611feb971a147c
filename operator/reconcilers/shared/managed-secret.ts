/** Secrets that the operator writes: never over foreign ones; restored when deleted, reverted when changed. */
import { isDeepStrictEqual } from 'node:util'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { KubeError } from '../../kube/client.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { keyOf } from '../../kube/object-paths.ts'
import { SECRET_LABEL, type SecretContent, type SecretObject } from '../../kube/object-writer.ts'
import type { Kind, Metadata } from '../../resources/kind.ts'
import { bad, type ConditionState, good } from './conditions.ts'
import type { OperatorContext } from './operator-context.ts'
import type { Outcome } from './reconcile.ts'
import { ReportedError } from './reported-error.ts'

/** Annotation of a Secret: when its password or signing secret was made. */
export const ROTATED_AT = 'postwright.dev/rotated-at'

/** The Secret that exists under the name. */
export type CurrentSecret =
  | { state: 'none' }
  | { state: 'ours'; secret: SecretObject; data: Record<string, string> }
  | { state: 'foreign' }

/** Reads the cache, and the API server for Secrets without our label. */
export async function currentSecret(
  { secretCache, writer }: Pick<OperatorContext, 'secretCache' | 'writer'>,
  owner: Pick<Metadata, 'namespace' | 'uid'>,
  name: string,
): Promise<CurrentSecret> {
  const id = { namespace: owner.namespace, name }
  const secret = (secretCache.get(keyOf(id)) as SecretObject | undefined) ?? (await writer.readSecret(id))
  if (!secret) return { state: 'none' }
  if (!secret.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) return { state: 'foreign' }
  return { state: 'ours', secret, data: plain(secret) }
}

/** Foreign Secrets are not watched: check again after this time. */
const FOREIGN_MS = 15_000

/** The outcome while a foreign Secret has the name. */
export function foreignSecret(name: string): Outcome {
  const condition = bad('SecretSynced', 'Conflict', sentence('resource.secret_foreign', { name }))
  return { conditions: [condition], requeueAfterMs: FOREIGN_MS }
}

export interface KeptSecret {
  condition: ConditionState
  events: EventInput[]
}

/**
 * Writes the Secret unless it is as wanted. `wasThere`: an earlier run wrote it, so that it is lost now if it is
 * missing. `renewed`: this run created new content, so that a difference is no drift.
 */
export async function keepSecret(
  context: OperatorContext,
  kind: Kind,
  owner: Metadata,
  current: CurrentSecret,
  content: SecretContent,
  { wasThere, renewed }: { wasThere: boolean; renewed: boolean },
): Promise<KeptSecret> {
  const { name } = content
  const condition = good('SecretSynced', 'Available', sentence('resource.secret_written', { name }))
  if (current.state === 'ours' && isAsWanted(current, content)) return { condition, events: [] }
  const known = current.state === 'ours' ? current.secret : undefined
  const written = await context.writer.applySecret(kind, owner, content, known).catch((error: unknown) => {
    throw reportedRefusal(error, name)
  })
  context.secretCache.put(written)
  if (renewed) return { condition, events: [] }
  const drift = (reason: string, note: string): KeptSecret => {
    context.metrics.operator.driftReverted.inc({ kind: kind.kind, place: 'secret' })
    return { condition, events: [{ type: 'Warning', reason, action: 'WriteSecret', note }] }
  }
  if (current.state === 'none' && wasThere)
    return drift('SecretRestored', `The Secret ${name} was gone; it is back with the same content.`)
  if (current.state === 'ours' && !isDeepStrictEqual(current.data, content.data) && sameVersion(current, content))
    return drift('SecretReverted', `The Secret ${name} was changed; it is as before.`)
  return { condition, events: [] }
}

/** Quotas, admission policies and immutable Secrets refuse permanently: the status has to report why. */
function reportedRefusal(error: unknown, name: string): unknown {
  const isRefusal = error instanceof KubeError && [400, 403, 413, 422].includes(error.status)
  if (!isRefusal) return error
  const message = sentence('resource.secret_refused', { name, reason: verbatim(error.message) })
  return new ReportedError(bad('SecretSynced', 'WriteRefused', message), error)
}

function isAsWanted({ secret, data }: Extract<CurrentSecret, { state: 'ours' }>, content: SecretContent): boolean {
  // Without its label the Secret is not watched: its next change would be missed.
  const isWatched = secret.metadata.labels?.[SECRET_LABEL] === 'managed'
  return isWatched && isDeepStrictEqual(data, content.data) && sameVersion({ secret }, content)
}

/** The annotations identify the source of the content; they differ after a change of the spec or a rotation. */
function sameVersion({ secret }: { secret: SecretObject }, { annotations }: SecretContent): boolean {
  return Object.entries(annotations).every(([key, value]) => secret.metadata.annotations?.[key] === value)
}

function plain({ data = {} }: SecretObject): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}
