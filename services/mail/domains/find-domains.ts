/** Finds sending domains for callers outside of this subject. */
import type { Db } from '../../platform/database/mongo.ts'
import type { CheckSummaryDoc, DomainDoc, RecordCheckDoc } from '../store/documents.ts'
import * as store from './store/domains.ts'

export type { CheckSummaryDoc, DomainDoc, RecordCheckDoc }

/** The domain of this name that the account has registered, verified or not. */
export function findDomainOfAccount(db: Db, accountId: string, name: string): Promise<DomainDoc | undefined> {
  return store.findDomain(db, accountId, name)
}

/** The domain as it is stored now; undefined when it was removed. */
export function currentDomain(db: Db, id: string): Promise<DomainDoc | undefined> {
  return store.findDomainById(db, id)
}

/** The domain of this name that the resource with this uid manages. */
export function findDomainOfResource(db: Db, name: string, uid: string): Promise<DomainDoc | undefined> {
  return store.findDomainOfResource(db, name, uid)
}

/** The domains of this name that the resource manages: several after it named another account. */
export function listDomainsOfResource(db: Db, name: string, uid: string): Promise<DomainDoc[]> {
  return store.domainsOfResource(db, name, uid)
}
