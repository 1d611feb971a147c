/** Guards: documents that make transactions conflict which would otherwise both pass, each reading what the other changes. */
import { collectionOf, type Db, defineCollection, type Session } from './mongo.ts'

const guards = defineCollection<{ _id: string; changes: number }>('guards')

/**
 * Writes the guard of this name, before anything that it guards is counted: of two transactions that do so at once one
 * runs again after the other; snapshot reads alone would let both pass.
 */
export async function takeGuard(db: Db, name: string, session: Session): Promise<void> {
  await collectionOf(db, guards).updateOne({ _id: name }, { $inc: { changes: 1 } }, { upsert: true, session })
}
