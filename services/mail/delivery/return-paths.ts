/**
 * Envelope senders of deliveries: an address of the sending domain, or of this installation, that names message and
 * recipient, so that reports come to the inbound process and find what they are about (ADR 87).
 */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { findDomainById } from '../domains/store/domains.ts'
import { returnPathHost, returnPathToken } from '../message/return-path.ts'
import { type ClaimedDelivery, recipientIndex } from '../store/delivery.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'

/** The envelope sender of one delivery of a message. */
export type ReturnPath = (delivery: Pick<ClaimedDelivery, 'id' | 'messageId' | 'expiresAt'>) => string | undefined

/** Undefined: the message leaves with the envelope sender that was submitted. Rejects when the database is away. */
export type FindReturnPath = (message: OutgoingMessage) => Promise<ReturnPath | undefined>

/** Dependencies of {@link createReturnPaths}. */
export interface ReturnPathOptions {
  db: Db
  clock: Clock
  secrets: Pick<Secrets, 'mac'>
  /** BOUNCE_DOMAIN. */
  bounceDomain: string
}

/** A change of a domain takes effect after this time at the latest, in milliseconds. */
const AGE_MS = 30_000

/** Mail with an empty envelope sender, and mail that belongs to no domain, keeps its envelope. */
export function createReturnPaths({ db, clock, secrets, bounceDomain }: ReturnPathOptions): FindReturnPath {
  const cache = createTtlCache<{ host: string | undefined }>({
    ttlMs: AGE_MS,
    max: 5_000,
    clock,
    isCacheable: () => true,
  })
  const mac = (text: string) => secrets.mac('return-path', text)
  const load = async (id: string) => ({ host: hostOf(await findDomainById(db, id), bounceDomain) })
  return async ({ mail_from, domain_id }) => {
    if (mail_from === '' || domain_id === '') return undefined
    const { host } = await cache.get(domain_id, () => load(domain_id))
    if (host === undefined) return undefined
    return ({ id, messageId, expiresAt }) => {
      const token = returnPathToken({ messageId, recipient: recipientIndex(id), expiresAt }, host, mac)
      return token && `${token}@${host}`
    }
  }
}

/** The host of a domain's return path, where its mail has one. */
function hostOf(domain: DomainDoc | undefined, bounceDomain: string): string | undefined {
  const mode = domain?.dns?.return_path ?? 'own'
  if (!domain || mode === 'off') return undefined
  const own = returnPathHost(domain.name)
  if (mode === 'shared' || own === bounceDomain) return bounceDomain
  return isVerified(domain, bounceDomain) ? own : undefined
}

/** The last check saw the records as a whole, and they lead to the host that takes reports now. */
function isVerified({ check }: DomainDoc, bounceDomain: string): boolean {
  if (check?.return_path !== undefined) return check.return_path === bounceDomain
  // A check of an earlier release: it stored its result in the record of the alias only.
  const alias = check?.records.find(({ row }) => row === 'return_path')
  return alias?.status === 'verified' && alias.observed.includes(bounceDomain)
}
