/** Sets, removes and shows the limits of an account. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { ManagedBy } from '../../platform/managed/managed-fields.ts'
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { refuseManaged } from '../managed.ts'
import type { Rate } from './rules/allowance.ts'
import { destinationOf, findLimitErrors, isEmpty, type LimitAmounts, toSendingLimit } from './rules/limit-errors.ts'
import {
  type DefaultLimits,
  EVERY_DESTINATION,
  holderAtDestination,
  holderOf,
  type LimitScope,
  rateAtDestination,
  rateOf,
  type SendingLimit,
} from './rules/sending-limit.ts'
import { usedOfPeriods } from './store/quota-leases.ts'
import { readRates } from './store/rate-leases.ts'
import { limitsOfAccounts, putLimit, removeLimit } from './store/sending-limits.ts'

/** What the use cases need. */
export interface LimitDeps {
  mongo: Mongo
  clock: Clock
  defaultLimits: DefaultLimits
  /** A login, token or domain of the account by its id, a domain by its name as well. */
  findSubject(userId: string, scope: 'credential' | 'domain', subject: string): Promise<LimitSubject | undefined>
}

/** What a limit is for. */
export interface LimitSubject {
  id: string
  name: string
  /** The resource that declares its limits. */
  managed_by?: ManagedBy
}

/** An account, as far as its limits depend on it. */
export interface LimitedAccount {
  id: string
  username: string
  recipientsPerDay: number
}

/** Limits that an account may have, its admin's included. */
const MOST = 200

/** What was asked for. */
export interface LimitWish extends LimitAmounts {
  scope: LimitScope
  subject: string
}

/** A limit with what is left of it. */
export interface LimitUse {
  limit: SendingLimit
  setBy: 'owner' | 'admin' | 'settings'
  /** Recipients that could be submitted, or tried, at once now. */
  available: number | undefined
  usedThisHour: number | undefined
  usedToday: number | undefined
}

/**
 * Sets a limit, or removes it when no amount is given. Throws `not_found` for a foreign login or domain,
 * `managed_by_resource`, `validation_failed`, and `conflict` when the account has too many.
 */
export async function setLimit(
  deps: LimitDeps,
  account: LimitedAccount,
  { scope, subject: written, ...amounts }: LimitWish,
  byAdmin: boolean,
): Promise<LimitSubject> {
  const { mongo, clock } = deps
  const found = await subjectOf(deps, account, scope, written)
  // The limit of a removed login or domain can be removed.
  const subject = found ?? (isEmpty(amounts) ? { id: written, name: written } : undefined)
  if (!subject) throw new ProblemError('not_found', sentence('detail.limit_unknown_subject'))
  refuseManaged(subject, {})
  const key = { scope, subject: subject.id, name: subject.name, byAdmin }
  if (isEmpty(amounts)) {
    await removeLimit(mongo.db, account.id, key)
    return subject
  }
  const known = (await limitsOfAccounts(mongo.db, [account.id])).get(account.id) ?? []
  const errors = findLimitErrors(scope, amounts, mostOf(account, known, deps.defaultLimits))
  if (errors.length > 0) throw refuseFields(errors)
  const isNew = !known.some(one => one.scope === scope && one.subject === subject.id && one.byAdmin === byAdmin)
  if (isNew && known.length >= MOST) throw new ProblemError('conflict', sentence('detail.limits_most', { count: MOST }))
  await putLimit(mongo.db, account.id, toSendingLimit(key, amounts), clock.now())
  return subject
}

/** The limits of an account and of the settings that it has, with their use. */
export async function showLimits(
  { mongo, clock, defaultLimits }: Omit<LimitDeps, 'findSubject'>,
  account: LimitedAccount,
): Promise<LimitUse[]> {
  const own = (await limitsOfAccounts(mongo.db, [account.id])).get(account.id) ?? []
  const limits = [
    ...ofSettings(account, own, defaultLimits),
    ...own.map(limit => ({ limit, setBy: limit.byAdmin ? ('admin' as const) : ('owner' as const) })),
  ]
  const rates = new Map(limits.flatMap(({ limit }) => rateEntries(account.id, limit, own, defaultLimits)))
  const now = clock.now()
  const hours = limits.flatMap(({ limit }) => (limit.perHour ? [holderOf(limit.subject)] : []))
  const days = limits.flatMap(({ limit }) => (limit.perDay ? [holderOf(limit.subject)] : []))
  const [left, hour, day] = await Promise.all([
    readRates(mongo, rates, now),
    usedOfPeriods(mongo.db, hours, HOUR_MS, now),
    usedOfPeriods(mongo.db, days, DAY_MS, now),
  ])
  return limits.map(({ limit, setBy }) => {
    const [[holder, rate] = []] = rateEntries(account.id, limit, own, defaultLimits)
    const used = holderOf(limit.subject)
    return {
      limit,
      setBy,
      available: holder && rate ? (left.get(holder) ?? rate.burst) : undefined,
      usedThisHour: limit.perHour ? (hour.get(used) ?? 0) : undefined,
      usedToday: limit.perDay ? (day.get(used) ?? 0) : undefined,
    }
  })
}

async function subjectOf(
  { findSubject }: LimitDeps,
  { id, username }: LimitedAccount,
  scope: LimitScope,
  written: string,
): Promise<LimitSubject | undefined> {
  if (scope === 'account') return { id, name: username }
  if (scope === 'destination') {
    const site = destinationOf(written)
    if (site === undefined) throw refuseFields([{ pointer: '/subject', reason: sentence('field.destination') }])
    return { id: site, name: site }
  }
  return findSubject(id, scope, written)
}

function mostOf({ recipientsPerDay }: LimitedAccount, known: readonly SendingLimit[], defaults: DefaultLimits) {
  const account = known.find(({ scope }) => scope === 'account')
  return {
    recipients_per_second: account ? account.perSecond : defaults.accountPerSecond,
    recipients_per_hour: account ? account.perHour : defaults.accountPerHour,
    recipients_per_day: recipientsPerDay,
  }
}

/** What the settings limit, as far as no admin has set something else. */
function ofSettings(
  { id, username }: LimitedAccount,
  own: readonly SendingLimit[],
  { accountPerSecond, accountPerHour, destinationPerMinute }: DefaultLimits,
): { limit: SendingLimit; setBy: 'settings' }[] {
  const found: { limit: SendingLimit; setBy: 'settings' }[] = []
  const isSet = (scope: LimitScope, subject: string) =>
    own.some(one => one.scope === scope && one.subject === subject && one.byAdmin)
  if ((accountPerSecond > 0 || accountPerHour > 0) && !isSet('account', id))
    found.push({
      limit: {
        ...{ scope: 'account', subject: id, name: username, byAdmin: true },
        ...{ perSecond: accountPerSecond || undefined, perHour: accountPerHour || undefined },
      },
      setBy: 'settings',
    })
  if (destinationPerMinute > 0 && !isSet('destination', EVERY_DESTINATION))
    found.push({
      limit: {
        ...{ scope: 'destination', subject: EVERY_DESTINATION, name: EVERY_DESTINATION, byAdmin: true },
        perMinute: destinationPerMinute,
      },
      setBy: 'settings',
    })
  return found
}

/** Where the rate of a limit is counted; each destination is counted apart, so `*` has no count of its own. */
function rateEntries(
  userId: string,
  limit: SendingLimit,
  own: readonly SendingLimit[],
  defaults: DefaultLimits,
): [holder: string, rate: Rate][] {
  const { scope, subject } = limit
  if (scope !== 'destination') {
    const rate = rateOf(limit)
    return rate ? [[holderOf(subject), rate]] : []
  }
  const rate = subject === EVERY_DESTINATION ? undefined : rateAtDestination(own, defaults, subject)
  return rate ? [[holderAtDestination(userId, subject), rate]] : []
}
