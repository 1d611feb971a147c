/** Accounts for callers outside of this subject: lookup by id or by case-folded name, and the collection to watch. */
export {
  findUser as findAccount,
  findUserByName as findAccountByName,
  type UserDoc,
  users as accountCollection,
} from './store/users.ts'
