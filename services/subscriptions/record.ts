/** Writes one change: the work, its audit entry and nothing else, in one transaction. */
import type { Session } from '../platform/mongo.ts'
import type { Actor, Subscriptions } from './context.ts'
import { differences } from './rules/audit.ts'
import { insertAudit } from './store/audit.ts'

/** What the audit log says of a change. */
export interface Deed {
  action: string
  appKey: string
  target: { kind: string; id: string }
  before?: object | undefined
  after?: object | undefined
}

/** Runs `work` in a transaction together with the audit entry of the deed that it returns; undefined = nothing was done. */
export async function record<T>(
  s: Subscriptions,
  actor: Actor,
  work: (session: Session) => Promise<{ result: T; deed?: Deed }>,
): Promise<T> {
  const id = await s.ids.next('audit')
  return s.mongo.transaction(async session => {
    const { result, deed } = await work(session)
    if (deed) {
      const { requestId, ip, ...who } = actor
      const entry = {
        _id: id,
        app_key: deed.appKey,
        actor: who,
        action: deed.action,
        target: deed.target,
        changes: differences(deed.before, deed.after),
        request_id: requestId,
        ip,
        at: s.clock.now(),
      }
      await insertAudit(s.c, [entry], session)
    }
    return result
  })
}
