/**
 * Decimal ids: a counter in the database, allocated in blocks, so that ids are unique over all processes without a
 * round trip each.
 */
import type { Collections } from './collections.ts'

/** Kinds of records with ids of their own. */
export type IdKind = 'admin' | 'app' | 'user' | 'plan' | 'subscription' | 'payment' | 'switch' | 'audit'

/** Ids that a process allocates in one step: a restart leaves at most this many unused. */
const BLOCK: Record<IdKind, number> = {
  admin: 1,
  app: 1,
  plan: 1,
  switch: 1,
  user: 100,
  subscription: 100,
  payment: 100,
  audit: 100,
}

/** Generates ids. */
export interface Ids {
  /** A new id of this kind, unique over all processes. Later records of another process may have lower ids. */
  next(kind: IdKind): Promise<number>
}

/** Generates ids from the collection of sequences. */
export function createIds({ sequences }: Pick<Collections, 'sequences'>): Ids {
  const blocks = new Map<IdKind, { next: number; end: number }>()
  const refills = new Map<IdKind, Promise<void>>()
  const refill = async (kind: IdKind) => {
    const document = await sequences.findOneAndUpdate(
      { _id: kind },
      { $inc: { next: BLOCK[kind] } },
      { upsert: true, returnDocument: 'after', writeConcern: { w: 'majority' } },
    )
    const end = (document?.next ?? BLOCK[kind]) + 1
    blocks.set(kind, { next: end - BLOCK[kind], end })
  }
  return {
    async next(kind) {
      for (;;) {
        const block = blocks.get(kind)
        if (block && block.next < block.end) return block.next++
        const running = refills.get(kind) ?? refill(kind).finally(() => refills.delete(kind))
        refills.set(kind, running)
        await running
      }
    },
  }
}
