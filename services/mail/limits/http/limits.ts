/** Limits of sending over HTTP. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { getUser } from '../../../accounts/manage-accounts.ts'
import { bind } from '../../../platform/http/web-app.ts'
import type { ManagedFields } from '../../../platform/managed/managed-fields.ts'
import { findCredential } from '../../credentials/store/smtp-credentials.ts'
import { findToken } from '../../credentials/store/tokens.ts'
import { managerOfLimits, managersOfLimits } from '../../declared-limits.ts'
import { findDomain } from '../../domains/store/domains.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { defaultLimits } from '../find-limits.ts'
import {
  type LimitDeps,
  type LimitedAccount,
  type LimitSubject,
  type LimitUse,
  setLimit,
  showLimits,
} from '../manage-limits.ts'
import { rateOf } from '../rules/sending-limit.ts'
import {
  listLimitsOperation,
  listUserLimitsOperation,
  putLimitOperation,
  putUserLimitOperation,
  type sendingLimit,
} from './limits-contract.ts'

/** Puts the operations on the router. */
export function mountLimits(router: Router, deps: MailHttpDeps): void {
  const { authorise, config, mongo } = deps
  const useCase: LimitDeps = {
    ...deps,
    defaultLimits: defaultLimits(config),
    async findSubject(userId, scope, subject) {
      if (scope === 'domain') return findDomain(mongo.db, userId, subject).then(subjectOf)
      const login = await findCredential(mongo.db, userId, subject)
      const token = login ? undefined : await findToken(mongo.db, userId, subject)
      return subjectOf(login ? { ...login, name: login.username } : token)
    },
  }
  const show = async (account: LimitedAccount) => ({
    object: 'list' as const,
    data: await showLimitsOf(useCase, account),
    has_more: false as const,
  })
  const accountOf = async (id: string): Promise<LimitedAccount> => {
    const user = await getUser(deps, id)
    return { id: user._id, username: user.username, recipientsPerDay: user.recipients_per_day ?? 0 }
  }

  bind(router, authorise, listLimitsOperation, (_, { account }) => show(account))

  bind(router, authorise, putLimitOperation, async ({ body }, caller, context) => {
    const { id, name } = await setLimit(useCase, caller.account, body, false)
    await deps.audit(caller, context, {
      action: 'sending_limit.changed',
      target: { type: body.scope, id, name },
    })
    return show(caller.account)
  })

  bind(router, authorise, listUserLimitsOperation, async ({ params }) => show(await accountOf(params.id)))

  bind(router, authorise, putUserLimitOperation, async ({ params, body }, caller, context) => {
    const account = await accountOf(params.id)
    const { id, name } = await setLimit(useCase, account, body, true)
    await deps.audit(caller, context, {
      action: 'sending_limit.changed',
      target: { type: body.scope, id, name },
      userId: account.id,
    })
    return show(account)
  })
}

/** The limits of an account as the API has them. */
export async function showLimitsOf(
  deps: Omit<LimitDeps, 'findSubject'>,
  account: LimitedAccount,
): Promise<z.input<typeof sendingLimit>[]> {
  const [limits, managers] = await Promise.all([showLimits(deps, account), managersOfLimits(deps.mongo.db, account.id)])
  return limits.map(use => ({ ...showLimit(use), managed_by: showManagedBy(managers.get(use.limit.subject)) }))
}

function showLimit({ limit, setBy, ...use }: LimitUse): Omit<z.input<typeof sendingLimit>, 'managed_by'> {
  return {
    object: 'sending_limit',
    scope: limit.scope,
    subject: limit.subject,
    name: limit.name,
    set_by: setBy,
    recipients_per_second: limit.perSecond ?? null,
    burst: rateOf(limit)?.burst ?? null,
    recipients_per_minute: limit.perMinute ?? null,
    recipients_per_hour: limit.perHour ?? null,
    recipients_per_day: limit.perDay ?? null,
    available: use.available ?? null,
    used_this_hour: use.usedThisHour ?? null,
    used_today: use.usedToday ?? null,
  }
}

function subjectOf(
  found: ({ _id: string; name: string; limits_declared?: boolean } & ManagedFields) | undefined,
): LimitSubject | undefined {
  if (!found) return undefined
  const managed_by = managerOfLimits(found)
  return { id: found._id, name: found.name, ...(managed_by && { managed_by }) }
}
