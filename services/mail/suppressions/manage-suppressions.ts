/** What people and programs do with the suppressions of an account. */
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { SuppressionOrigin } from './rules/suppression.ts'
import type { SuppressionInput } from './rules/suppression-input.ts'
import {
  findSuppression,
  type NewSuppression,
  removeAddresses,
  removeSuppression,
  type SuppressionDoc,
  type SuppressionKey,
  storeSuppressions,
} from './store/suppressions.ts'
import { addedEvents, changeWithEvents, removedEvents, type SuppressionDeps } from './with-events.ts'

/** Puts an address on the list; one that is listed gets the new reason and end. 422 for an end that is past. */
export async function putSuppression(deps: SuppressionDeps, userId: string, input: SuppressionInput) {
  await changeSuppressions(deps, userId, { add: [input], remove: [] }, '')
  return getSuppression(deps, userId, { email: input.email, stream: input.stream })
}

/** Puts addresses on the list as {@link putSuppression} does, and takes others off it. */
export async function changeSuppressions(
  deps: SuppressionDeps,
  userId: string,
  { add, remove }: { add: readonly SuppressionInput[]; remove: readonly string[] },
  root = '/add',
): Promise<{ added: number; updated: number; removed: SuppressionDoc[] }> {
  const now = deps.clock.now()
  refusePastEnds(add, root, now)
  const entries = add.map(input => toEntry(userId, input, 'api', now))
  return changeWithEvents(deps, [userId], async session => {
    const { added, updated } = await storeSuppressions(deps.db, entries, 'replace', now, session)
    const removed = await removeAddresses(deps.db, userId, remove, session)
    const events = [...addedEvents(entries, added), ...removedEvents(removed, now)]
    return { result: { added: added.length, updated, removed }, events }
  })
}

/** One entry, or 404. */
export async function getSuppression({ db }: SuppressionDeps, userId: string, key: SuppressionKey) {
  return found(await findSuppression(db, userId, key))
}

/** Takes an entry off the list, so that its address gets mail again; 404 when it is not listed. */
export async function deleteSuppression(deps: SuppressionDeps, userId: string, key: SuppressionKey) {
  return changeWithEvents(deps, [userId], async session => {
    const result = found(await removeSuppression(deps.db, userId, key, session))
    return { result, events: removedEvents([result], deps.clock.now()) }
  })
}

/** An entry of a caller as it is stored. */
export function toEntry(
  userId: string,
  { email, stream, reason, expires_at, detail }: SuppressionInput,
  origin: SuppressionOrigin,
  now: Date,
): NewSuppression {
  return {
    ...{ user_id: userId, email, stream, reason, origin, created_at: now },
    ...(expires_at && { expires_at }),
    ...(detail && { detail }),
  }
}

function refusePastEnds(inputs: readonly SuppressionInput[], root: string, now: Date): void {
  const past = inputs.findIndex(({ expires_at: end }) => end !== undefined && end <= now)
  if (past === -1) return
  const at = root === '' ? '' : `${root}/${past}`
  throw refuseFields([{ pointer: `${at}/expires_at`, reason: sentence('field.past') }])
}

function found(entry: SuppressionDoc | undefined): SuppressionDoc {
  if (!entry) throw new ProblemError('not_found', sentence('detail.no_suppression'))
  return entry
}
