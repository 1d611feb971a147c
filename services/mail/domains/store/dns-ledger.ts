/** The ledger of records that we wrote, inside the domain's document: each change is one atomic update. */
import { type Db, modelOf } from '../../../platform/database/models.ts'
import { domains, type OwnedRecordDoc } from './domain-model.ts'

type Key = Pick<OwnedRecordDoc, 'row' | 'name' | 'type' | 'value'>

/** The entries of a domain, oldest first; none when the domain is gone. */
export async function readOwned(db: Db, domainId: string): Promise<OwnedRecordDoc[]> {
  return (await modelOf(db, domains).findById(domainId, { dns_owned: 1 }).lean())?.dns_owned ?? []
}

/**
 * Adds entries, each in place of the one with the same row, name, type and value. False when the domain is gone, or
 * being removed: records written now would never be removed.
 */
export async function writeOwned(
  db: Db,
  domainId: string,
  entries: readonly OwnedRecordDoc[],
  now: Date,
): Promise<boolean> {
  // $literal: values hold dollar signs and dots that an expression would read.
  const kept = { $concatArrays: [without(entries), { $literal: entries }] }
  const { matchedCount } = await modelOf(db, domains).updateOne(
    { _id: domainId, leaving_until: { $not: { $gt: now } } },
    [{ $set: { dns_owned: kept } }],
    { updatePipeline: true },
  )
  return matchedCount === 1
}

/** Removes entries. */
export async function forgetOwned(db: Db, domainId: string, entries: readonly Key[]): Promise<void> {
  const update = [{ $set: { dns_owned: without(entries) } }]
  await modelOf(db, domains).updateOne({ _id: domainId }, update, { updatePipeline: true })
}

function without(entries: readonly Key[]): object {
  const same = entries.map(({ row, name, type, value }) => ({
    $and: [
      { $eq: ['$$entry.row', { $literal: row }] },
      { $eq: ['$$entry.name', { $literal: name }] },
      { $eq: ['$$entry.type', { $literal: type }] },
      { $eq: ['$$entry.value', { $literal: value }] },
    ],
  }))
  return { $filter: { input: { $ifNull: ['$dns_owned', []] }, as: 'entry', cond: { $not: { $or: same } } } }
}
