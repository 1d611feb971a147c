import { useRead } from '../api/hooks.ts'
import { nextStep, type Step, stepsDone } from './start-steps.ts'

/** Undefined while it is loading. */
export function useStartProgress():
  | { done: ReadonlySet<Step>; next: Step | undefined; domain: string | undefined }
  | undefined {
  const few = { query: { limit: 5 } }
  const domains = useRead('listDomainsOperation', few)
  const logins = useRead('listCredentialsOperation', few)
  const tokens = useRead('listTokensOperation', few)
  const messages = useRead('listEmails', few, { poll: 5000 })
  if (!domains.data || !logins.data || !tokens.data || !messages.data) return undefined
  const done = stepsDone({
    domains: domains.data.data,
    logins: logins.data.data.length,
    tokens: tokens.data.data.length,
    messages: messages.data.data,
  })
  const sender = domains.data.data.find(domain => domain.may_send) ?? domains.data.data[0]
  return { done, next: nextStep(done), domain: sender?.name }
}
