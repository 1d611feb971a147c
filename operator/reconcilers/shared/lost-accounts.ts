/** Records in accounts that the namespace may not act for any more. */
import type { EventInput } from '../../kube/event-recorder.ts'
import { entitlementOf, withdrawnEvent } from './namespace-entitlement.ts'
import type { OperatorContext } from './operator-context.ts'

/** Leaves what the resource has in such accounts to them, by `leave`; `what` names it in the event of each. */
export async function leaveLostAccounts(
  context: OperatorContext,
  namespace: string,
  accounts: readonly string[],
  { what, leave }: { what: string; leave: (account: string) => Promise<void> },
): Promise<EventInput[]> {
  const events: EventInput[] = []
  for (const account of accounts) {
    const { username, allowed } = await entitlementOf(context, namespace, account)
    if (allowed) continue
    await leave(account)
    events.push(withdrawnEvent(`${what} was left to the account ${username ?? account}.`))
  }
  return events
}
