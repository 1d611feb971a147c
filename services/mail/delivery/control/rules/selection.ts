/** Which waiting mail a hold or an action of queue control is about. */

/** What mail is selected by. */
export const SELECTION_SCOPES = ['account', 'domain', 'destination', 'message'] as const
export type SelectionScope = (typeof SELECTION_SCOPES)[number]

/** Selected mail. */
export interface Selection {
  /** Only mail of this account; absent: of all accounts. */
  userId?: string | undefined
  scope: SelectionScope
  /** Id of the account, sending domain or message; site or domain of the recipients. */
  value: string
}

/** A delivery, as far as selections depend on it. */
export interface Selectable {
  userId: string
  /** Sending domain; undefined where the message is not known. */
  domainId: string | undefined
  messageId: string
  site: string
  /** Domain of the recipient, lower case. */
  recipientDomain: string
}

/** True when the delivery is among the selected. */
export function isSelected({ userId, scope, value }: Selection, delivery: Selectable): boolean {
  if (userId !== undefined && userId !== delivery.userId) return false
  switch (scope) {
    case 'account':
      return delivery.userId === value
    case 'domain':
      return delivery.domainId === value
    case 'message':
      return delivery.messageId === value
    case 'destination':
      return delivery.site === value || delivery.recipientDomain === value
  }
}

/** Finds the first selection for a delivery at a cost that does not depend on their number, unless many share a value. */
export function createFinder<S extends Selection>(selections: readonly S[]): (delivery: Selectable) => S | undefined {
  if (selections.length === 0) return () => undefined
  const byKey = Map.groupBy(selections, ({ scope, value }) => `${scope} ${value}`)
  return delivery => {
    const keys = [
      `account ${delivery.userId}`,
      `domain ${delivery.domainId}`,
      `message ${delivery.messageId}`,
      `destination ${delivery.site}`,
      `destination ${delivery.recipientDomain}`,
    ]
    for (const key of keys) {
      const found = byKey.get(key)?.find(one => isSelected(one, delivery))
      if (found) return found
    }
    return undefined
  }
}
