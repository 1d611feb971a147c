/** What people and programs do with the suppressions of an account. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
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

/** Dependencies of the use cases. */
export interface SuppressionDeps {
  db: Db
  clock: Clock
}

/** Puts an address on the list; one that is listed gets the new reason and end. 422 for an end that is past. */
export async function putSuppression(deps: SuppressionDeps, userId: string, input: SuppressionInput) {
  await storeInputs(deps, userId, [input], '')
  return getSuppression(deps, userId, { email: input.email, stream: input.stream })
}

/** Puts addresses on the list as {@link putSuppression} does, and takes others off it. */
export async function changeSuppressions(
  deps: SuppressionDeps,
  userId: string,
  { add, remove }: { add: readonly SuppressionInput[]; remove: readonly string[] },
): Promise<{ added: number; updated: number; removed: SuppressionDoc[] }> {
  const { added, updated } = await storeInputs(deps, userId, add, '/add')
  return { added: added.length, updated, removed: await removeAddresses(deps.db, userId, remove) }
}

/** One entry, or 404. */
export async function getSuppression({ db }: SuppressionDeps, userId: string, key: SuppressionKey) {
  return found(await findSuppression(db, userId, key))
}

/** Takes an entry off the list, so that its address gets mail again; 404 when it is not listed. */
export async function deleteSuppression({ db }: SuppressionDeps, userId: string, key: SuppressionKey) {
  return found(await removeSuppression(db, userId, key))
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

async function storeInputs(
  { db, clock }: SuppressionDeps,
  userId: string,
  inputs: readonly SuppressionInput[],
  root: string,
) {
  const now = clock.now()
  const past = inputs.findIndex(({ expires_at: end }) => end !== undefined && end <= now)
  if (past !== -1) {
    const at = root === '' ? '' : `${root}/${past}`
    throw refuseFields([{ pointer: `${at}/expires_at`, reason: sentence('field.past') }])
  }
  const entries = inputs.map(input => toEntry(userId, input, 'api', now))
  return storeSuppressions(db, entries, 'replace', now)
}

function found(entry: SuppressionDoc | undefined): SuppressionDoc {
  if (!entry) throw new ProblemError('not_found', sentence('detail.no_suppression'))
  return entry
}
