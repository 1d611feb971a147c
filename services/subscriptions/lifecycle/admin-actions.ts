/** Actions of administrators on a subscription: extend, cancel, refund, set the automatic renewal. */
import { randomUUID } from 'node:crypto'
import { ProblemError } from '../../platform/problems.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fieldError } from '../rules/field-errors.ts'
import { cancel, extend, setAutoRenew } from '../rules/subscription-lifecycle.ts'
import type { SubscriptionDoc } from '../store/documents.ts'
import { changePeriod } from './change-subscription.ts'
import { refundSubscription } from './refund.ts'

/** An action with its parameters. */
export interface SubscriptionAction {
  action: 'extend' | 'cancel' | 'refund' | 'set_auto_renew'
  days?: number | undefined
  at: 'now' | 'period_end'
  auto_renew?: '0' | '1' | undefined
  amount?: number | undefined
  version?: number | undefined
  /** Kept in the audit log. */
  reason?: string | undefined
}

/** Runs one action. Throws `validation_failed` for a missing field, and the errors of the single steps. */
export async function runAdminAction(
  context: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: number },
  { action, days, at, auto_renew, amount, version, reason }: SubscriptionAction,
): Promise<SubscriptionDoc> {
  const target = { appKey, id, version, reason }
  switch (action) {
    case 'extend':
      if (days === undefined) throw missing('days')
      return changePeriod(context, actor, target, 'subscription.extend', (period, plan, now) =>
        extend(period, plan, days, now),
      )
    case 'cancel':
      return changePeriod(context, actor, target, 'subscription.cancel', (period, _, now) => cancel(period, at, now))
    case 'set_auto_renew':
      if (auto_renew === undefined) throw missing('auto_renew')
      return changePeriod(context, actor, target, 'subscription.auto_renew', period =>
        setAutoRenew(period, auto_renew === '1'),
      )
    case 'refund': {
      const request = { appKey, subscriptionId: id, version, reason, refundId: randomUUID(), amountCents: amount }
      return (await refundSubscription(context, actor, { ...request, revoke: true })).subscription
    }
  }
}

function missing(field: string): ProblemError {
  return new ProblemError('validation_failed', undefined, { errors: [fieldError(field, 'required')] })
}
