/** Seals again, with the current SESSION_SECRET, what an older one sealed: after a rotation the old secret can then go. */
import type { Collection } from '../database/mongo.ts'
import type { Purpose, Secrets } from './secrets.ts'

/** A sealed value inside a document: the dotted path to it, and what it was sealed for. */
export interface SealedValue {
  path: string
  sealed: string
  purpose: Purpose
  place: string
}

/**
 * Goes through a collection and seals stale values anew; resolves to how many. `valuesOf` tells where a document keeps
 * sealed values. Each write matches the old value, so that a change in the meantime wins; running it twice, or dying in
 * its middle, does no harm. Values that no known secret opens stay as they are.
 */
export async function reseal<T extends { _id: string }>(
  collection: Collection<T>,
  secrets: Secrets,
  valuesOf: (document: T) => readonly SealedValue[],
): Promise<number> {
  let count = 0
  for await (const document of collection.find({})) {
    for (const { path, sealed, purpose, place } of valuesOf(document as T)) {
      const fresh = secrets.isStale(sealed) ? again(secrets, { path, sealed, purpose, place }) : undefined
      if (fresh === undefined) continue
      const filter = { _id: document._id, [path]: sealed } as Parameters<typeof collection.updateOne>[0]
      const { modifiedCount } = await collection.updateOne(filter, { $set: { [path]: fresh } } as never)
      count += modifiedCount
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
