/** Whether a limit may be set as it was asked for. */
import type { FieldError } from '../../../platform/sentences/field-error.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { isProvider, siteOf } from '../../store/rules/assign-slot.ts'
import { EVERY_DESTINATION, type LimitScope, type SendingLimit } from './sending-limit.ts'

/** Amounts of a limit under the names of the API; null or absent: not limited. */
export interface LimitAmounts {
  recipients_per_second?: number | null | undefined
  burst?: number | null | undefined
  recipients_per_minute?: number | null | undefined
  recipients_per_hour?: number | null | undefined
  recipients_per_day?: number | null | undefined
}

/** Names of the amounts. */
export type AmountName = keyof LimitAmounts

const AMOUNTS: readonly AmountName[] = [
  'recipients_per_second',
  'burst',
  'recipients_per_minute',
  'recipients_per_hour',
  'recipients_per_day',
]
const OF_SENDER: readonly AmountName[] = ['recipients_per_second', 'burst', 'recipients_per_hour', 'recipients_per_day']
/** The day of an account is a field of the account (`recipients_per_day`). */
const OF_SCOPE: Readonly<Record<LimitScope, readonly AmountName[]>> = {
  account: ['recipients_per_second', 'burst', 'recipients_per_hour'],
  credential: OF_SENDER,
  domain: OF_SENDER,
  destination: ['recipients_per_minute'],
}

/** What the account may do, which its owner may only divide. */
export interface AccountMost {
  recipients_per_second?: number | undefined
  recipients_per_hour?: number | undefined
  recipients_per_day?: number | undefined
}

/** True when nothing is limited: the limit is to be removed. */
export function isEmpty(amounts: LimitAmounts): boolean {
  return AMOUNTS.every(name => amounts[name] == null)
}

/** All errors of the amounts; `most` bounds those of logins and domains. */
export function findLimitErrors(scope: LimitScope, amounts: LimitAmounts, most: AccountMost): FieldError[] {
  const given = AMOUNTS.filter(name => amounts[name] != null)
  const errors = given
    .filter(name => !OF_SCOPE[scope].includes(name))
    .map((name): FieldError => ({ pointer: `/${name}`, reason: sentence('field.limit_of_other_scope') }))
  if (amounts.burst != null && amounts.recipients_per_second == null)
    errors.push({ pointer: '/burst', reason: sentence('field.limit_burst_alone') })
  if (scope !== 'credential' && scope !== 'domain') return errors
  for (const name of ['recipients_per_second', 'recipients_per_hour', 'recipients_per_day'] as const) {
    const limit = most[name]
    if (limit && (amounts[name] ?? 0) > limit)
      errors.push({ pointer: `/${name}`, reason: sentence('field.limit_above_account', { limit }) })
  }
  return errors
}

/** The site of a destination as people write it (a provider, a domain in A-label form, or `*`); undefined for anything else. */
export function destinationOf(written: string): string | undefined {
  const name = written.trim().toLowerCase()
  if (name === EVERY_DESTINATION || isProvider(name)) return name
  return DOMAIN.test(name) && name.length <= 253 ? siteOf(name) : undefined
}

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** The limit that these amounts make. */
export function toSendingLimit(
  key: Pick<SendingLimit, 'scope' | 'subject' | 'name' | 'byAdmin'>,
  amounts: LimitAmounts,
): SendingLimit {
  return {
    ...key,
    perSecond: amounts.recipients_per_second ?? undefined,
    burst: amounts.burst ?? undefined,
    perMinute: amounts.recipients_per_minute ?? undefined,
    perHour: amounts.recipients_per_hour ?? undefined,
    perDay: amounts.recipients_per_day ?? undefined,
  }
}
