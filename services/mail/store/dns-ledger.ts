/** The ledger of records that we wrote, inside the domain's document: each change is one atomic update. */
import { collectionOf, type Db } from '../../platform/mongo.ts'
import type { DomainDoc, OwnedRecordDoc } from './documents.ts'
import { domains } from './domains.ts'

type Key = Pick<OwnedRecordDoc, 'row' | 'name' | 'type' | 'value'>

/** The entries of a domain, oldest first; none when the domain is gone. */
export async function readOwned(db: Db, domainId: string): Promise<OwnedRecordDoc[]> {
  const projection = { dns_owned: 1 } as const
  const found = await collectionOf(db, domains).findOne<Pick<DomainDoc, 'dns_owned'>>({ _id: domainId }, { projection })
  return found?.dns_owned ?? []
}

/** Adds an entry, in place of the one with the same row, name, type and value. */
export async function writeOwned(db: Db, domainId: string, entry: OwnedRecordDoc): Promise<void> {
  // $literal: values hold dollar signs and dots that an expression would read.
  const kept = { $concatArrays: [without(entry), [{ $literal: entry }]] }
  await collectionOf(db, domains).updateOne({ _id: domainId }, [{ $set: { dns_owned: kept } }])
}

/** Removes an entry. */
export async function forgetOwned(db: Db, domainId: string, entry: Key): Promise<void> {
  const { row, name, type, value } = entry
  await collectionOf(db, domains).updateOne({ _id: domainId }, { $pull: { dns_owned: { row, name, type, value } } })
}

function without({ row, name, type, value }: Key): object {
  const same = [
    ['$$entry.row', row],
    ['$$entry.name', name],
    ['$$entry.type', type],
    ['$$entry.value', value],
  ].map(([field, wanted]) => ({ $eq: [field, { $literal: wanted }] }))
  return { $filter: { input: { $ifNull: ['$dns_owned', []] }, as: 'entry', cond: { $not: { $and: same } } } }
}
