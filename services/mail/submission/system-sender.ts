/** Which senders mail of the platform itself may have beside SYSTEM_MAIL_FROM. */
import { findUser } from '../../accounts/store/users.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { type Diversion, diversionOf } from '../domains/rules/delivery-mode.ts'
import { domainMaySend, findVerifiedDomain } from '../domains/store/domains.ts'
import { domainOf } from '../message/address.ts'

/** The account id of mail that the system sends itself; no user has it. */
export const SYSTEM_USER = 'system'

/** A sender that may be used. */
export interface SystemSender {
  /** The address, its domain as it is stored. */
  from: string
  domainId: string
  /** User name of the administrator whose domain it is. */
  owner: string
  /** Where mail of its domain goes instead; absent: to its recipients. */
  diversion?: Diversion | undefined
}

/** Finds out whether an address may be the sender; undefined when it may not. */
export type FindSystemSender = (address: string) => Promise<SystemSender | undefined>

/** Senders in verified domains of active administrators, as they are at each call. */
export function createSystemSenders({ mongo, config }: Pick<Foundation, 'mongo' | 'config'>): FindSystemSender {
  const policy = { requireVerified: true, capture: config.DELIVERY_MODE === 'capture' }
  return async address => {
    const domain = await findVerifiedDomain(mongo.db, domainOf(address).toLowerCase())
    if (!domain || !(await domainMaySend(mongo.db, domain, policy))) return undefined
    const owner = await findUser(mongo.db, domain.user_id)
    if (owner?.role !== 'admin' || owner.status !== 'active') return undefined
    const from = `${address.slice(0, address.lastIndexOf('@'))}@${domain.name}`
    return { from, domainId: domain._id, owner: owner.username, diversion: diversionOf(domain) }
  }
}

/** The same as yes or no, for those who set a sender. */
export function createMaySendFrom(
  foundation: Pick<Foundation, 'mongo' | 'config'>,
): (address: string) => Promise<boolean> {
  const find = createSystemSenders(foundation)
  return async address => (await find(address)) !== undefined
}
