import { useRead } from '../api/hooks.ts'
import { daysAgo } from '../mail/overview/overview-search.ts'
import { SIMULATED, type Step, stepsDone } from './start-steps.ts'

/** How often facts are read again, in milliseconds. */
const POLL_MS = 5_000

export interface StartProgress {
  done: ReadonlySet<Step>
  /** The domain to send from; else the first one. */
  domain: string | undefined
  maySend: boolean
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
  const done = stepsDone({
    domains: domains.data.data,
    access: [...logins.data.data, ...tokens.data.data],
    messages: messages.data.data,
    counted: stats.data.totals.messages,
    bounced: bounced.data.data[0],
    deferred: deferred.data.data[0],
  })
  const sender = domains.data.data.find(domain => domain.may_send)
  return { done, domain: (sender ?? domains.data.data[0])?.name, maySend: sender !== undefined }
}

/** The latest message to the address of the simulator. */
export function useSimulated(kind: keyof typeof SIMULATED) {
  return useRead('listEmails', { query: { to: SIMULATED[kind], limit: 1 } }, { poll: 2_000 })
}
