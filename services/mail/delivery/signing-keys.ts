/** The signing keys of a message's domain, opened once and kept for a short time. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import { openDkimKey } from '../domains/dkim-keys.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { findDomainById, findVerifiedDomain } from '../domains/store/domains.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import type { SigningKey } from './smtp/signer.ts'

/** The keys that sign a message; undefined: it must be signed and cannot be. Rejects when the database is away. */
export type FindKeys = (message: OutgoingMessage) => Promise<readonly SigningKey[] | undefined>

/** A rotated key signs after this time at the latest; the old one is published for days longer. */
const AGE_MS = 30_000

/**
 * Keys by domain. Mail of users is never sent unsigned, nor is mail of the system in the name of a domain of theirs. Mail
 * of the system itself is signed when the domain of its sender (`systemDomain`) is a verified domain here.
 */
export function createKeys(options: { db: Db; secrets: Secrets; clock: Clock; systemDomain: string }): FindKeys {
  const { db, secrets, clock } = options
  // SYSTEM_MAIL_FROM is written as people write it; domains are stored in lower case.
  const systemDomain = options.systemDomain.toLowerCase()
  const cache = createTtlCache<readonly SigningKey[]>({
    ttlMs: AGE_MS,
    max: 5_000,
    clock,
    isCacheable: keys => keys.length > 0,
  })
  const open = (domain: DomainDoc | undefined): readonly SigningKey[] =>
    (domain?.dkim ?? [])
      .filter(({ state }) => state === 'active')
      .map(key => ({
        domain: domain?.name ?? '',
        selector: key.selector,
        algorithm: key.algorithm,
        key: openDkimKey(secrets, { _id: domain?._id ?? '' }, key),
      }))
  return async ({ domain_id, via }) => {
    if (via.channel === 'system' && domain_id === '')
      return cache.get(`system ${systemDomain}`, async () => open(await findVerifiedDomain(db, systemDomain)))
    const keys = await cache.get(domain_id, async () => open(await findDomainById(db, domain_id)))
    return keys.length > 0 ? keys : undefined
  }
}
