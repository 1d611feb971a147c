/** Steps from an empty account to an application that sends; facts of the account decide which are complete. */

export const STEPS = ['send', 'domain', 'verify', 'use', 'bounce', 'defer'] as const

export type Step = (typeof STEPS)[number]

/** Without capture mode there is no domain to send from at the beginning. */
const WITHOUT_SANDBOX: readonly Step[] = ['domain', 'verify', 'send', 'use', 'bounce', 'defer']

/** The steps in their order. `trial`: capture mode, in which the first account has a domain to try. */
export function stepsInOrder(trial: boolean): readonly Step[] {
  return trial ? STEPS : WITHOUT_SANDBOX
}

/** Addresses of the simulator that the page sends to. */
export const SIMULATED = { bounce: 'bounced@simulator.invalid', defer: 'deferred@simulator.invalid' } as const

interface Message {
  status: string
  source: string
  recipients: readonly { email: string }[]
}

export interface Progress {
  domains: readonly { status: string; verified_by: string | null; may_send: boolean }[]
  /** SMTP logins and tokens. */
  access: readonly { last_used_at: string | null }[]
  /** Latest messages. */
  messages: readonly Message[]
  /** Messages in the statistics, which leave out those to the simulator. */
  counted: number
  /** Latest messages to the addresses of {@link SIMULATED}. */
  bounced: Pick<Message, 'status'> | undefined
  deferred: Pick<Message, 'status'> | undefined
}

export function stepsDone(progress: Progress): ReadonlySet<Step> {
  const { domains, access, messages, counted, bounced, deferred } = progress
  const own = domains.filter(domain => domain.verified_by !== 'sandbox')
  const done: Record<Step, boolean> = {
    send: counted > 0 || messages.some(isReal),
    domain: own.length > 0,
    verify: own.some(domain => domain.status === 'verified'),
    use: access.some(({ last_used_at: at }) => at !== null),
    bounce: bounced?.status === 'bounced',
    defer: deferred !== undefined && ['deferred', 'delivered'].includes(deferred.status),
  }
  return new Set(STEPS.filter(step => done[step]))
}

/** Reports of the service and tests are not the first message. */
function isReal({ source, recipients }: Message): boolean {
  return source !== 'system' && recipients.some(({ email }) => !email.endsWith('@simulator.invalid'))
}

/** The first incomplete step; undefined if all are complete. */
export function nextStep(order: readonly Step[], done: ReadonlySet<Step>): Step | undefined {
  return order.find(step => !done.has(step))
}
