/** Guards: documents that make transactions conflict which would otherwise both pass, each reading what the other changes. */
import { collectionOf, type Db, defineCollection, type Session } from './mongo.ts'

const guards = defineCollection<{ _id: string; changes: number }>('guards')

/**
 * Writes the document of this name, before the transaction counts what it protects. Of two parallel transactions one
 * then conflicts and is repeated; with snapshot reads alone both would succeed.
 */
export async function forceConflict(db: Db, name: string, session: Session): Promise<void> {
  await collectionOf(db, guards).updateOne({ _id: name }, { $inc: { changes: 1 } }, { upsert: true, session })
}
