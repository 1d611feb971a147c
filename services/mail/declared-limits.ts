/** Domains and logins whose limits of sending are declared by the Kubernetes resource that manages them. */
import { collectionOf, type Db } from '../platform/database/mongo.ts'
import type { ManagedBy, ManagedFields } from '../platform/managed/managed-fields.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { domains } from './domains/store/domain-model.ts'

interface Row extends ManagedFields {
  _id: string
  user_id: string
  limits_declared?: boolean
}

const COLLECTIONS = { domain: domains, credential: credentials } as const

/** Notes on the record of a resource whether the resource declares limits, an empty set of them included. */
export async function noteDeclaredLimits(
  db: Db,
  scope: keyof typeof COLLECTIONS,
  id: string,
  isDeclared: boolean,
): Promise<void> {
  const field = { limits_declared: true }
  const update: object = isDeclared ? { $set: field } : { $unset: field }
  await collectionOf<Row>(db, COLLECTIONS[scope]).updateOne({ _id: id }, update)
}

/** The resource that keeps people from changing the limits of this record. */
export function managerOfLimits({ limits_declared, managed_by }: Omit<Row, '_id' | 'user_id'>): ManagedBy | undefined {
  return limits_declared ? managed_by : undefined
}

/** By the id of a domain or login of the account: the resource that declares its limits. */
export async function managersOfLimits(db: Db, userId: string): Promise<ReadonlyMap<string, ManagedBy>> {
  const filter: object = { user_id: userId, limits_declared: true, managed_by: { $exists: true } }
  const projection = { limits_declared: 1, managed_by: 1 }
  const found = await Promise.all(
    Object.values(COLLECTIONS).map(model => collectionOf<Row>(db, model).find(filter, { projection }).toArray()),
  )
  const rows = found.flat().map(row => [row._id, managerOfLimits(row)] as const)
  return new Map(rows.flatMap(([id, resource]) => (resource ? [[id, resource]] : [])))
}
