import { useRead } from '../api/hooks.ts'
import { daysAgo } from '../mail/overview/overview-search.ts'
import { domainToVerify, SIMULATED, type Step, senderOf, stepsDone, stepsInOrder } from './start-steps.ts'

/** How often facts are read again, in milliseconds. */
const POLL_MS = 5_000

export interface StartProgress {
  order: readonly Step[]
  done: ReadonlySet<Step>
  /** The domain to send from; undefined while none may send. */
  sender: string | undefined
  /** The user's own domain, verified or not. */
  own: string | undefined
}

/** Undefined while it is loading. */
export function useStartProgress(): StartProgress | undefined {
  const most = { query: { limit: 100 } }
  const poll = { poll: POLL_MS }
  const domains = useRead('listDomainsOperation', most, poll)
  const logins = useRead('listCredentialsOperation', most, poll)
  const tokens = useRead('listTokensOperation', most, poll)
  const messages = useRead('listEmails', { query: { limit: 5 } }, poll)
  const stats = useRead('getStats', { query: { since: daysAgo(29, Date.now()) } })
  const bounced = useSimulated('bounce')
  const deferred = useSimulated('defer')
  if (!domains.data || !logins.data || !tokens.data || !messages.data || !stats.data) return undefined
  if (!bounced.data || !deferred.data) return undefined
  const known = domains.data.data
  const done = stepsDone({
    domains: known,
    access: [...logins.data.data, ...tokens.data.data],
    messages: messages.data.data,
    counted: stats.data.totals.messages,
    bounced: bounced.data.data[0],
    deferred: deferred.data.data[0],
  })
  return { order: stepsInOrder(known), done, sender: senderOf(known), own: domainToVerify(known) }
}

/** The latest message to the address of the simulator. */
export function useSimulated(kind: keyof typeof SIMULATED) {
  return useRead('listEmails', { query: { to: SIMULATED[kind], limit: 1 } }, { poll: 2_000 })
}
