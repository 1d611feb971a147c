/** The senders of a login must be of domains of its account: any other one would be refused with each message. */
import type { Db } from '../../platform/database/mongo.ts'
import { refuseFields } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { findDomain } from '../domains/store/domains.ts'
import { domainOf } from '../message/address.ts'

/** Senders of a login, in their stored form. */
interface Senders {
  allowed_senders?: readonly string[] | undefined
  fallback_sender?: string | null | undefined
}

/**
 * Throws 422 with an error for each sender of a domain that the account does not have. Senders that the login has
 * already (`before`) may stay: former releases accepted them, and a domain may have been removed since.
 */
export async function refuseForeignSenders(
  db: Db,
  userId: string,
  given: Senders,
  before: Senders = {},
): Promise<void> {
  const entries = [
    ...(given.allowed_senders ?? [])
      .map((sender, index) => ({ sender, pointer: `/allowed_senders/${index}` }))
      .filter(({ sender }) => !before.allowed_senders?.includes(sender)),
    ...(given.fallback_sender && given.fallback_sender !== before.fallback_sender
      ? [{ sender: given.fallback_sender, pointer: '/fallback_sender' }]
      : []),
  ].map(entry => ({ ...entry, name: domainOf(entry.sender) }))
  const names = [...new Set(entries.map(({ name }) => name))]
  const known = await Promise.all(names.map(name => findDomain(db, userId, name)))
  const foreign = new Set(names.filter((_, index) => !known[index]))
  const errors = entries
    .filter(({ name }) => foreign.has(name))
    .map(({ pointer, name }) => ({ pointer, reason: sentence('field.own_domain', { name }) }))
  if (errors.length > 0) throw refuseFields(errors)
}
