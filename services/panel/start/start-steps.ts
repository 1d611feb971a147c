/** Steps from an empty account to a delivered message. */

export const STEPS = ['domain', 'verify', 'access', 'send', 'arrive'] as const

export type Step = (typeof STEPS)[number]

export interface Progress {
  domains: readonly { may_send: boolean }[]
  logins: number
  tokens: number
  messages: readonly { status: string }[]
}

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

/** The first incomplete step; undefined if all are complete. */
export function nextStep(done: ReadonlySet<Step>): Step | undefined {
  return STEPS.find(step => !done.has(step))
}
