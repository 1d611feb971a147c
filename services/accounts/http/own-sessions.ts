/** The open sessions of the own account. */
import { toPage } from '../../platform/cursor-pages.ts'
import { bind, type createRouter } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { Account } from '../account-status.ts'
import { MAX_SESSIONS, openSessionsOf } from '../login-sessions.ts'
import { getUser } from '../manage-accounts.ts'
import { deleteSessionOf, deleteSessionsOf } from '../store/sessions.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { endMyOtherSessions, endMySession, listMySessions } from './sessions-contract.ts'

/** Mounts the operations on the own sessions. */
export function mountOwnSessions(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, authorise, audit } = deps
  const target = ({ id, username }: Account) => ({ type: 'user', id, name: username })

  bind(router, authorise, listMySessions, async (_, { account, sessionId }) => {
    const open = await openSessionsOf(mongo.db, await getUser(deps, account.id), clock.now())
    return toPage(open, MAX_SESSIONS, ({ id, ip, client, method, created_at, usedAt, endsAt }) => ({
      object: 'open_session' as const,
      id,
      current: id === sessionId,
      created_at: created_at.toISOString(),
      last_used_at: usedAt.toISOString(),
      ends_at: endsAt.toISOString(),
      ip,
      client: client ?? null,
      method,
    }))
  })

  bind(router, authorise, endMySession, async ({ params }, caller, context) => {
    const ended = await deleteSessionOf(mongo.db, caller.account.id, params.id)
    if (!ended) throw new ProblemError('not_found', sentence('detail.no_session'))
    await audit(caller, context, { action: 'session.ended', target: target(caller.account) })
  })

  bind(router, authorise, endMyOtherSessions, async (_, caller, context) => {
    await deleteSessionsOf(mongo.db, caller.account.id, caller.sessionId)
    await audit(caller, context, { action: 'session.others_ended', target: target(caller.account) })
  })
}
