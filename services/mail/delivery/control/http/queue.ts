/** Holds and actions on waiting mail over HTTP. */

import type { z } from 'zod'
import { personOf } from '../../../../accounts/http/audit-caller.ts'
import { findUser } from '../../../../accounts/store/users.ts'
import { createFairLimiter } from '../../../../platform/concurrency/fair-limiter.ts'
import { bind, type WebContext } from '../../../../platform/http/web-app.ts'
import { ProblemError } from '../../../../platform/problems.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { findDomain, findDomainById, findVerifiedDomain } from '../../../domains/store/domains.ts'
import { type Principal, requireUnrestricted } from '../../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../../http/shared/context.ts'
import { destinationOf } from '../../../limits/rules/limit-errors.ts'
import { EVERY_DESTINATION } from '../../../limits/rules/sending-limit.ts'
import { countWaiting, hold, type QueueDeps, type Requester, release, requestAction } from '../manage-queue.ts'
import { countHeld } from '../queue-worker.ts'
import { findHolds, type HoldDoc, listHolds } from '../store/holds.ts'
import { listActions, type QueueActionDoc } from '../store/queue-actions.ts'
import {
  countAnyQueueOperation,
  countQueueOperation,
  createActionOperation,
  createAnyActionOperation,
  createAnyHoldOperation,
  createHoldOperation,
  listActionsOperation,
  listAllActionsOperation,
  listAllHoldsOperation,
  listHoldsOperation,
  type queueAction,
  type queueHold,
  releaseAnyHoldOperation,
  releaseHoldOperation,
} from './queue-contract.ts'

/** Held recipients are counted up to this number. */
const COUNT_MOST = 100_000
/** Counts of waiting mail in parallel in one process: each reads thousands of deliveries. */
const COUNTS = { atOnce: 1, perKey: 1, waiting: 2 }

/** Puts the operations on the router. */
export function mountQueueControl(router: Router, deps: MailHttpDeps): void {
  const { authorise, mongo, clock } = deps
  const useCase = queueDepsOf(deps)
  const showHold = async (doc: HoldDoc) => toHold(doc, await countHeld(mongo, doc._id, COUNT_MOST), clock.now())
  const holdsOf = async (userId: string | undefined) =>
    toList(await Promise.all((await listHolds(mongo.db, userId)).map(showHold)))
  const actionsOf = async (userId: string | undefined) => toList((await listActions(mongo.db, userId)).map(toAction))
  const audit = (caller: Principal, context: WebContext, action: string, doc: HoldDoc | QueueActionDoc) =>
    deps.audit(caller, context, {
      action: `queue.${action}`,
      target: { type: doc.scope, id: doc.value, name: doc.name },
      ...(doc.user_id !== undefined && { userId: doc.user_id }),
    })

  bind(router, authorise, listHoldsOperation, (_, { account }) => holdsOf(account.id))
  bind(router, authorise, listAllHoldsOperation, () => holdsOf(undefined))
  bind(router, authorise, listActionsOperation, (_, { account }) => actionsOf(account.id))
  bind(router, authorise, listAllActionsOperation, () => actionsOf(undefined))

  const create = async (caller: Principal, context: WebContext, by: Requester, body: Parameters<typeof hold>[2]) => {
    const doc = await hold(useCase, by, body)
    await audit(caller, context, 'held', doc)
    return showHold(doc)
  }
  bind(router, authorise, createHoldOperation, ({ body }, caller, context) =>
    create(caller, context, owner(caller), body),
  )
  bind(router, authorise, createAnyHoldOperation, ({ body }, caller, context) =>
    create(caller, context, admin(caller), body),
  )

  const end = async (caller: Principal, context: WebContext, by: Requester, id: string) => {
    const [known] = await findHolds(mongo.db, [id])
    await audit(caller, context, 'released', await release(useCase, by, known))
  }
  bind(router, authorise, releaseHoldOperation, ({ params }, caller, context) =>
    end(caller, context, owner(caller), params.id),
  )
  bind(router, authorise, releaseAnyHoldOperation, ({ params }, caller, context) =>
    end(caller, context, admin(caller), params.id),
  )

  const inTurn = createFairLimiter(COUNTS)
  const count = async (caller: Principal, by: Requester, wish: Parameters<typeof countWaiting>[2]) => {
    const counted = await inTurn(caller.account.id, () => countWaiting(useCase, by, wish))
    return { object: 'count' as const, ...counted }
  }
  bind(router, authorise, countQueueOperation, ({ query }, caller) => count(caller, owner(caller), query))
  bind(router, authorise, countAnyQueueOperation, ({ query }, caller) => count(caller, admin(caller), query))

  const act = async (
    caller: Principal,
    context: WebContext,
    by: Requester,
    body: Parameters<typeof requestAction>[2],
  ) => {
    const doc = await requestAction(useCase, by, body)
    await audit(caller, context, doc.action === 'cancel' ? 'cancel_requested' : 'retry_requested', doc)
    return toAction(doc)
  }
  bind(router, authorise, createActionOperation, ({ body }, caller, context) =>
    act(caller, context, owner(caller), body),
  )
  bind(router, authorise, createAnyActionOperation, ({ body }, caller, context) =>
    act(caller, context, admin(caller), body),
  )
}

function queueDepsOf({ mongo, clock, config }: MailHttpDeps): QueueDeps {
  return {
    ...{ mongo, clock, logDays: config.RETENTION_LOG_DAYS },
    async findDomain(userId, domain) {
      const found =
        userId === undefined
          ? ((await findDomainById(mongo.db, domain)) ?? (await findVerifiedDomain(mongo.db, domain)))
          : await findDomain(mongo.db, userId, domain)
      return found && { id: found._id, name: found.name }
    },
    async findAccount(id) {
      const user = await findUser(mongo.db, id)
      return user && { id: user._id, name: user.username }
    },
    destinationOf(written) {
      const site = destinationOf(written)
      return site === EVERY_DESTINATION ? undefined : site
    },
  }
}

/** A token needs all domains of the account, and may not be one that sends nothing out: it changes nothing that goes out. */
function owner(caller: Principal): Requester {
  requireUnrestricted(caller)
  if (caller.token?.mode === 'test') throw new ProblemError('forbidden', sentence('detail.test_token_messages'))
  if (caller.token?.capture) throw new ProblemError('forbidden', sentence('detail.capture_token_messages'))
  return { id: caller.account.id, name: personOf(caller).username, admin: false }
}

function admin({ account }: Principal): Requester {
  return { id: account.id, name: account.username, admin: true }
}

function toList<T>(data: T[]) {
  return { object: 'list' as const, data, has_more: false as const }
}

function selectedOf(doc: HoldDoc | QueueActionDoc) {
  return {
    id: doc._id,
    user_id: doc.user_id ?? null,
    scope: doc.scope,
    value: doc.value,
    name: doc.name,
    by: { name: doc.by.name, admin: doc.by.admin },
    created_at: doc.created_at.toISOString(),
  }
}

function toHold(doc: HoldDoc, held: number, now: Date): z.input<typeof queueHold> {
  const isActive = !doc.released_at && (!doc.until || doc.until > now)
  return {
    object: 'queue_hold',
    ...selectedOf(doc),
    reason: doc.reason,
    until: doc.until?.toISOString() ?? null,
    state: isActive ? 'active' : held > 0 ? 'releasing' : 'ended',
    held,
  }
}

function toAction(doc: QueueActionDoc): z.input<typeof queueAction> {
  return {
    object: 'queue_action',
    ...selectedOf(doc),
    action: doc.action,
    scanned: doc.scanned,
    done: doc.done,
    finished_at: doc.finished_at?.toISOString() ?? null,
  }
}
