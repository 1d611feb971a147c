/** Decimal ids: a counter in the database, taken in blocks, so that ids stay unique over all processes and need no round trip each. */
import type { Collections } from './collections.ts'

/** Kinds of records with ids of their own. */
export type IdKind = 'admin' | 'app' | 'user' | 'plan' | 'subscription' | 'payment' | 'switch' | 'audit'

/** How many ids a process takes at once: a restart leaves at most so many unused. */
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

/** Gives ids. */
export interface Ids {
  /** A new id of this kind, never given before. Of two processes the later record may have the lower one. */
  next(kind: IdKind): Promise<number>
}

/** Ids from the collection of sequences. */
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
