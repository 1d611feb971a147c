/** Sets the limit of a login or domain as its resource declares it. */
import { isDeepStrictEqual } from 'node:util'
import { type LimitDeps, type LimitedAccount, type LimitSubject, type LimitWish, setLimit } from './manage-limits.ts'
import { isEmpty, toSendingLimit } from './rules/limit-errors.ts'
import { limitsOfAccounts } from './store/sending-limits.ts'

/**
 * False when the limit is as declared already: it stays, also above a limit of the account that was lowered since, as one
 * that its owner has set would. Without any amount it is removed. `subject` has no `managed_by`: its resource declares.
 * Throws as {@link setLimit} does.
 */
export async function declareLimit(
  deps: Omit<LimitDeps, 'findSubject'>,
  account: LimitedAccount,
  subject: Omit<LimitSubject, 'managed_by'>,
  wish: Omit<LimitWish, 'subject' | 'scope'> & { scope: 'credential' | 'domain' },
): Promise<boolean> {
  const { scope, ...amounts } = wish
  const own = (await limitsOfAccounts(deps.mongo.db, [account.id])).get(account.id) ?? []
  const known = own.find(one => one.scope === scope && one.subject === subject.id && !one.byAdmin)
  const wanted = toSendingLimit({ scope, subject: subject.id, name: subject.name, byAdmin: false }, amounts)
  if (isEmpty(amounts) ? known === undefined : isDeepStrictEqual(known, wanted)) return false
  const found = { ...deps, findSubject: async () => subject }
  await setLimit(found, account, { ...wish, subject: subject.id }, false)
  return true
}
