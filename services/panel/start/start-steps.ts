/** The way from nothing to a delivered message, and how far the reader has come. */

/** The steps in their order. */
export const STEPS = ['domain', 'verify', 'access', 'send', 'arrive'] as const

/** One of them. */
export type Step = (typeof STEPS)[number]

/** What the account has, as far as the steps ask. */
export interface Progress {
  domains: readonly { may_send: boolean }[]
  logins: number
  tokens: number
  messages: readonly { status: string }[]
}

/** The steps that are done. */
export function stepsDone({ domains, logins, tokens, messages }: Progress): ReadonlySet<Step> {
  const done: Record<Step, boolean> = {
    domain: domains.length > 0,
    verify: domains.some(domain => domain.may_send),
    access: logins > 0 || tokens > 0,
    send: messages.length > 0,
    arrive: messages.some(message => message.status === 'delivered'),
  }
  return new Set(STEPS.filter(step => done[step]))
}

/** The first step that is not done yet; undefined when all are. */
export function nextStep(done: ReadonlySet<Step>): Step | undefined {
  return STEPS.find(step => !done.has(step))
}
