/** Seals again, with the current SESSION_SECRET, what an older one sealed: after a rotation the old secret can then go. */
import type { Model } from '../database/models.ts'
import type { Purpose, Secrets } from './secrets.ts'

/** A sealed value inside a document: the dotted path to it, and its sealing context. */
export interface SealedValue {
  path: string
  sealed: string
  purpose: Purpose
  place: string
}

/**
 * Seals stale values of a collection with the current secret; resolves to how many. `valuesOf` returns where a document
 * has sealed values. Each write matches the old value, so that a parallel change wins; it can be repeated or
 * interrupted. Values that no known secret opens stay as they are.
 */
export async function reseal<T extends { _id: string }>(
  model: Model<T>,
  secrets: Secrets,
  valuesOf: (document: T) => readonly SealedValue[],
): Promise<number> {
  let count = 0
  for await (const document of model.find().lean<T>().cursor()) {
    for (const { path, sealed, purpose, place } of valuesOf(document as T)) {
      const fresh = secrets.isStale(sealed) ? again(secrets, { path, sealed, purpose, place }) : undefined
      if (fresh === undefined) continue
      const filter: object = { _id: document._id, [path]: sealed }
      count += (await model.updateOne(filter, { $set: { [path]: fresh } as object })).modifiedCount
    }
  }
  return count
}

function again(secrets: Secrets, { sealed, purpose, place }: SealedValue): string | undefined {
  try {
    return secrets.seal(purpose, place, secrets.open(purpose, place, sealed))
  } catch {
    return undefined
  }
}
