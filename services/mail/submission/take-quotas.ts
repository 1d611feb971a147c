/** Takes a message from every limit that it meets: from all of them, or from none. */
import type { Clock } from '../../platform/clock.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { Config } from '../../platform/process/config.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import type { FindLimits } from '../limits/find-limits.ts'
import type { Quota, Taken } from '../limits/quota.ts'
import type { Allowance } from '../limits/rules/allowance.ts'
import { type AppliedLimit, type DefaultLimits, limitsOfSender } from '../limits/rules/sending-limit.ts'
import { domainOf } from '../message/address.ts'
import { isProvider, siteOf } from '../store/rules/assign-slot.ts'
import { type NewMessage, recipientsToSend } from './store/message-documents.ts'
import type { Refused, Submitter } from './submission.ts'
import { type FindSenderDomain, refuse } from './validate-sender.ts'
import { LOOKUP_MS } from './validate-submission.ts'

/** Dependencies of {@link takeQuotas}. */
export interface QuotaOptions {
  config: Pick<Config, 'DELIVERY_MODE'>
  quota: Quota
  clock: Clock
  recipientsPerDay(userId: string): Promise<number>
  findLimits: FindLimits
  findSenderDomain: FindSenderDomain
  defaultLimits: DefaultLimits
}

/** Gmail and Outlook call those who send more in a day bulk senders, and refuse them without SPF, DKIM and DMARC. */
const UNAUTHENTICATED_PER_DAY = 5_000

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
  { config, recipientsPerDay, findLimits, defaultLimits, findSenderDomain }: QuotaOptions,
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
  // Captured mail reaches no provider.
  const isBulk = message.lane === 'bulk' && config.DELIVERY_MODE !== 'capture' && !message.capture
  const lookups = Promise.all([
    recipientsPerDay(userId),
    findLimits(userId),
    isBulk ? findSenderDomain(userId, domainOf(message.from)) : undefined,
  ])
  const [perDay, limits, domain] = await withTimeout(LOOKUP_MS, lookups)
  const amount = recipientsToSend(message)
  const sender = { userId, loginId: via.id, domainId: message.domain_id }
  for (const applied of limitsOfSender(limits, defaultLimits, sender))
    needs.push({ ...applied, amount, refusal: (usedUp, seconds) => usedUpLimit(applied, usedUp, seconds) })
  if (isBulk && !domain?.isAuthenticated) needs.push(...needsOfProviders(message))
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

/** What providers take of bulk mail from a domain that they cannot verify. */
function needsOfProviders(message: NewMessage): Need[] {
  const sent = message.recipients.filter(({ suppressed }) => !suppressed)
  const byProvider = Map.groupBy(sent, ({ email }) => siteOf(domainOf(email)))
  const domain = domainOf(message.from)
  return [...byProvider]
    .filter(([provider]) => isProvider(provider))
    .map(([provider, recipients]) => ({
      holder: `${message.domain_id} ${provider}`,
      allowance: { limit: UNAUTHENTICATED_PER_DAY, periodMs: DAY_MS },
      amount: recipients.length,
      refusal: ({ left }, resetSeconds) => {
        const params = { limit: UNAUTHENTICATED_PER_DAY, domain, provider, seconds: resetSeconds }
        const quota = { limit: UNAUTHENTICATED_PER_DAY, left, resetSeconds }
        return { ...refuse('bulk_unauthenticated', sentence('streams.unauthenticated', params)), quota }
      },
    }))
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
