/** Takes a message from every limit that it meets: from all of them, or from none. */
import type { Clock } from '../../platform/clock.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import type { FindLimits } from '../limits/find-limits.ts'
import type { Quota, Taken } from '../limits/quota.ts'
import type { Allowance } from '../limits/rules/allowance.ts'
import { type AppliedLimit, type DefaultLimits, limitsOfSender } from '../limits/rules/sending-limit.ts'
import { type NewMessage, recipientsToSend } from './store/message-documents.ts'
import type { Refused, Submitter } from './submission.ts'
import { refuse } from './validate-sender.ts'
import { LOOKUP_MS } from './validate-submission.ts'

/** Dependencies of {@link takeQuotas}. */
export interface QuotaOptions {
  quota: Quota
  clock: Clock
  recipientsPerDay(userId: string): Promise<number>
  findLimits: FindLimits
  defaultLimits: DefaultLimits
}

type UsedUp = Extract<Taken, { kind: 'used_up' }>

/** One limit: how much of it the message needs, and the refusal when it does not have that. */
interface Need {
  holder: string
  allowance: Allowance
  amount: number
  refusal(usedUp: UsedUp, resetSeconds: number): Refused
}

/**
 * Limits count recipients, except the hourly one of a login, which counts messages. Test messages count for that one
 * alone. Resolves to what puts everything back. Rejects without a database, with nothing taken.
 */
export async function takeQuotas(
  options: QuotaOptions,
  submitter: Submitter,
  message: NewMessage,
): Promise<(() => void) | Refused> {
  const taken: (() => void)[] = []
  const putBack = () => {
    for (const one of taken) one()
  }
  try {
    for (const { holder, allowance, amount, refusal } of await needsOf(options, submitter, message)) {
      const result = await take(options.quota, holder, allowance, amount)
      if (result.kind === 'taken') taken.push(() => result.putBack())
      else {
        putBack()
        return refusal(result, secondsUntil(result.endsAt, options.clock))
      }
    }
    return putBack
  } catch (error) {
    putBack()
    throw error
  }
}

async function needsOf(
  { recipientsPerDay, findLimits, defaultLimits }: QuotaOptions,
  { userId, via, messagesPerHour }: Submitter,
  message: NewMessage,
): Promise<Need[]> {
  const needs: Need[] = []
  if (messagesPerHour > 0 && via.id !== undefined)
    needs.push({
      ...{ holder: via.id, allowance: { limit: messagesPerHour, periodMs: HOUR_MS }, amount: 1 },
      refusal: () => refuse('quota_exceeded'),
    })
  if (message.test) return needs
  const lookups = Promise.all([recipientsPerDay(userId), findLimits(userId)])
  const [perDay, limits] = await withTimeout(LOOKUP_MS, lookups)
  const amount = recipientsToSend(message)
  const sender = { userId, loginId: via.id, domainId: message.domain_id }
  for (const applied of limitsOfSender(limits, defaultLimits, sender))
    needs.push({ ...applied, amount, refusal: (usedUp, seconds) => usedUpLimit(applied, usedUp, seconds) })
  if (perDay > 0)
    needs.push({
      ...{ holder: userId, allowance: { limit: perDay, periodMs: DAY_MS }, amount },
      refusal: ({ left }, resetSeconds) => ({
        ...refuse('daily_quota_exceeded', sentence('detail.daily_limit', { limit: perDay, left })),
        quota: { limit: perDay, left, resetSeconds },
      }),
    })
  return needs
}

/** What comes too late for the answer is put back. */
async function take(quota: Quota, holder: string, allowance: Allowance, amount: number): Promise<Taken> {
  const taking = quota.take(holder, allowance, amount)
  return withTimeout(LOOKUP_MS, taking).catch((error: unknown) => {
    taking.then(
      late => late.kind === 'taken' && late.putBack(),
      () => undefined,
    )
    throw error
  })
}

function usedUpLimit({ scope, name, unit, allowance }: AppliedLimit, { left }: UsedUp, seconds: number): Refused {
  const { limit } = allowance
  const whose = whoseLimit(scope, name)
  return {
    ...refuse('rate_limited', detailOf(unit, { whose, limit, left, seconds }, allowance)),
    quota: { limit, left, resetSeconds: seconds },
  }
}

function detailOf(
  unit: AppliedLimit['unit'],
  params: { whose: Sentence; limit: number; left: number; seconds: number },
  allowance: Allowance,
): Sentence {
  if (unit === 'hour') return sentence('detail.limit_hour', params)
  if (unit === 'day') return sentence('detail.limit_day', params)
  const { whose, limit, seconds } = params
  const burst = 'burst' in allowance ? allowance.burst : limit
  return sentence('detail.limit_rate', { whose, limit, burst, seconds })
}

function whoseLimit(scope: AppliedLimit['scope'], name: string): Sentence {
  if (scope === 'credential') return sentence('limits.of_credential', { name })
  return scope === 'domain' ? sentence('limits.of_domain', { name }) : sentence('limits.of_account')
}

function secondsUntil(at: Date, clock: Clock): number {
  return Math.max(1, Math.ceil((at.getTime() - clock.now().getTime()) / 1000))
}
