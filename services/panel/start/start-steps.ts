/** Steps from an empty account to an application that sends; facts of the account decide which are complete. */

export const STEPS = ['send', 'domain', 'verify', 'use', 'bounce', 'defer'] as const

export type Step = (typeof STEPS)[number]

/** Without a sandbox domain there is none to send from at the beginning. */
const WITHOUT_SANDBOX: readonly Step[] = ['domain', 'verify', 'send', 'use', 'bounce', 'defer']

interface Domain {
  name: string
  status: string
  verified_by: string | null
  may_send: boolean
}

/** The steps in their order. Only the first account of an installation in capture mode has a sandbox domain. */
export function stepsInOrder(domains: readonly Domain[]): readonly Step[] {
  return domains.some(domain => isSandbox(domain) && domain.may_send) ? STEPS : WITHOUT_SANDBOX
}

/** The domain that messages of the guide are sent from: one of the user's own where there is one. */
export function senderOf(domains: readonly Domain[]): string | undefined {
  const senders = domains.filter(domain => domain.may_send)
  return (senders.find(domain => !isSandbox(domain)) ?? senders[0])?.name
}

/**
 * The domain that the step "verify" is about: a verified one, else the one that was added last. Never the sandbox.
 * `domains`: oldest first.
 */
export function domainToVerify(domains: readonly Domain[]): string | undefined {
  const own = domains.filter(domain => !isSandbox(domain))
  return (own.find(domain => domain.status === 'verified') ?? own.at(-1))?.name
}

function isSandbox({ verified_by: by }: Domain): boolean {
  return by === 'sandbox'
}

/** Addresses of the simulator that the page sends to. */
export const SIMULATED = { bounce: 'bounced@simulator.invalid', defer: 'deferred@simulator.invalid' } as const

interface Message {
  status: string
  source: string
  recipients: readonly { email: string }[]
}

export interface Progress {
  domains: readonly Domain[]
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
  const own = domains.filter(domain => !isSandbox(domain))
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
