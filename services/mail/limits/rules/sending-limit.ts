/**
 * Limits of sending, and which of them a message meets. They count recipients. Limits of accounts, logins and domains
 * refuse mail for now at acceptance; limits of destinations let accepted mail wait.
 */
import type { Allowance, Rate } from './allowance.ts'

/** What a limit is for. */
export const LIMIT_SCOPES = ['account', 'credential', 'domain', 'destination'] as const
export type LimitScope = (typeof LIMIT_SCOPES)[number]

/** One limit of an account, in recipients; what is absent is not limited. */
export interface SendingLimit {
  scope: LimitScope
  /** Id of the account, login, token or domain; site of a destination, or {@link EVERY_DESTINATION}. */
  subject: string
  /** For people: a user name, a domain, a site. */
  name: string
  perSecond?: number | undefined
  /** With `perSecond`; absent: as much as a second allows, and at least one. */
  burst?: number | undefined
  perHour?: number | undefined
  perDay?: number | undefined
  /** Of destinations only. */
  perMinute?: number | undefined
  /** Its owner may not change it. */
  byAdmin: boolean
}

/** Limits of accounts that no admin has set any for; 0 = no limit. */
export interface DefaultLimits {
  accountPerSecond: number
  accountPerHour: number
  destinationPerMinute: number
}

/** A limit of acceptance that a message meets. */
export interface AppliedLimit {
  scope: LimitScope
  name: string
  /** Under which name the use is counted. */
  holder: string
  unit: 'second' | 'hour' | 'day'
  allowance: Allowance
}

/** Who submits, and in the name of which domain. */
export interface LimitedSender {
  userId: string
  /** Of the login or token; sessions have none. */
  loginId: string | undefined
  domainId: string
}

/** Subject of the limit for each destination that has none of its own. */
export const EVERY_DESTINATION = '*'

const HOUR = { unit: 'hour', periodMs: 3_600_000 } as const
const DAY = { unit: 'day', periodMs: 86_400_000 } as const

/** The limits of acceptance for this sender: those of its account first. */
export function limitsOfSender(
  limits: readonly SendingLimit[],
  defaults: DefaultLimits,
  { userId, loginId, domainId }: LimitedSender,
): AppliedLimit[] {
  const find = (scope: LimitScope, subject: string | undefined) =>
    limits.find(limit => limit.scope === scope && limit.subject === subject)
  const found = [
    find('account', userId) ?? defaultOfAccount(defaults, userId),
    find('credential', loginId),
    find('domain', domainId),
  ]
  return found.flatMap(limit => (limit ? appliedOf(limit) : []))
}

/**
 * The rate of an account at one destination, or undefined without a limit. An admin's limit takes the place of the
 * default; one of the owner applies as far as it is lower. A hundredth of a minute's amount may pass at once, so that no
 * minute has more than a hundredth (or one recipient) above the limit.
 */
export function rateAtDestination(
  limits: readonly SendingLimit[],
  defaults: Pick<DefaultLimits, 'destinationPerMinute'>,
  site: string,
): Rate | undefined {
  const own = limits.filter(({ scope }) => scope === 'destination')
  const strictest = (byAdmin: boolean) => {
    const of = (subject: string) => own.find(limit => limit.byAdmin === byAdmin && limit.subject === subject)
    return (of(site) ?? of(EVERY_DESTINATION))?.perMinute
  }
  const perMinute = Math.min(
    strictest(true) ?? (defaults.destinationPerMinute || Number.POSITIVE_INFINITY),
    strictest(false) ?? Number.POSITIVE_INFINITY,
  )
  if (perMinute === Number.POSITIVE_INFINITY) return undefined
  return { limit: perMinute / 60, burst: Math.max(1, Math.floor(perMinute / 100)) }
}

/** The rate of a limit with an amount a second. */
export function rateOf({ perSecond, burst }: Pick<SendingLimit, 'perSecond' | 'burst'>): Rate | undefined {
  return perSecond ? { limit: perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) } : undefined
}

/** Under which name the recipients of a subject are counted; messages of a login are counted under its id alone. */
export function holderOf(subject: string): string {
  return `${subject}/recipients`
}

/** Under which name the recipients of an account at a destination are counted. */
export function holderAtDestination(userId: string, site: string): string {
  return `${userId}/${site}`
}

function appliedOf(limit: SendingLimit): AppliedLimit[] {
  const { scope, name, perHour, perDay } = limit
  const rate = rateOf(limit)
  const base = { scope, name, holder: holderOf(limit.subject) }
  const period = (amount: number | undefined, { unit, periodMs }: typeof HOUR | typeof DAY): AppliedLimit[] =>
    amount ? [{ ...base, unit, allowance: { limit: amount, periodMs } }] : []
  return [
    ...(rate ? [{ ...base, unit: 'second' as const, allowance: rate }] : []),
    ...period(perHour, HOUR),
    ...period(perDay, DAY),
  ]
}

function defaultOfAccount(
  { accountPerSecond, accountPerHour }: DefaultLimits,
  userId: string,
): SendingLimit | undefined {
  if (accountPerSecond === 0 && accountPerHour === 0) return undefined
  const base = { scope: 'account', subject: userId, name: '', byAdmin: true } as const
  return { ...base, perSecond: accountPerSecond || undefined, perHour: accountPerHour || undefined }
}
