/** The refusals for failed authentication in the documents of their domains. */
import { randomUUID } from 'node:crypto'
import { modelOf } from '../../../platform/database/models.ts'
import type { Db } from '../../../platform/database/mongo.ts'
import type { AuthenticationRefusal } from '../rules/authentication-refusals.ts'
import { domains } from './domain-model.ts'

/** Several workers may write at once: then all but one read again. */
const MAX_TRIES = 10
/** Domains with refusals that a worker watches for deliveries. */
const MAX_WATCHED = 10_000

/** A domain with its refusals. */
export interface RefusedDomain {
  id: string
  refusals: AuthenticationRefusal[]
}

/**
 * Replaces the refusals of a domain by what `change` makes of them, however many processes do so at once. Returns the new
 * ones; undefined when the domain is gone.
 */
export async function changeRefusals(
  db: Db,
  id: string,
  change: (known: readonly AuthenticationRefusal[]) => AuthenticationRefusal[],
): Promise<AuthenticationRefusal[] | undefined> {
  const model = modelOf(db, domains)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await model.findById(id, { authentication: 1 }).lean()
    if (!found) return undefined
    const { authentication } = found
    const refusals = change(authentication?.refusals ?? [])
    const [latest] = refusals
    if (!authentication && !latest) return refusals
    const unchanged = authentication
      ? { 'authentication.revision': authentication.revision }
      : { authentication: { $exists: false } }
    const update = latest
      ? { $set: { authentication: { revision: randomUUID(), last_at: latest.last_at, refusals } } }
      : { $unset: { authentication: '' } }
    if ((await model.updateOne({ _id: id, ...unchanged }, update)).matchedCount === 1) return refusals
  }
  throw new Error(`the authentication refusals of ${id} are being changed all the time`)
}

/** Domains that have refusals, those with the latest first. */
export async function domainsWithRefusals(db: Db): Promise<RefusedDomain[]> {
  const found = await modelOf(db, domains)
    .find({ 'authentication.last_at': { $exists: true } }, { authentication: 1 })
    .sort({ 'authentication.last_at': -1 })
    .limit(MAX_WATCHED)
    .lean()
  return found.map(({ _id, authentication }) => ({ id: _id, refusals: authentication?.refusals ?? [] }))
}

/** Removes the refusals of domains whose last one is older. */
export async function removeRefusalsBefore(db: Db, before: Date): Promise<void> {
  await modelOf(db, domains).updateMany(
    { 'authentication.last_at': { $lt: before } },
    { $unset: { authentication: '' } },
  )
}
