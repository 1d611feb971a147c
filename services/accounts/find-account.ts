/** Finds accounts for callers outside of this subject. */
import type { Db } from '../platform/database/mongo.ts'
import { findUser, findUserByName, type UserDoc, users } from './store/users.ts'

export type { UserDoc }

/** The collection of accounts: for processes that create its indexes or watch its changes. */
export const accountCollection = users

/** The account with this id. */
export function findAccount(db: Db, id: string): Promise<UserDoc | undefined> {
  return findUser(db, id)
}

/** The account with this case-folded name. */
export function findAccountByName(db: Db, username: string): Promise<UserDoc | undefined> {
  return findUserByName(db, username)
}
