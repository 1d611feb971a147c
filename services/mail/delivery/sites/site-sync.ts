/** Shares what workers find out about sites: writes what changed here, reads what changed elsewhere. */
import type { Mongo } from '../../../platform/database/mongo.ts'
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'
import type { SiteDoc } from '../../store/documents.ts'
import { explained } from '../../store/rules/explanation.ts'
import { changedSites, writeSites } from '../../store/sites.ts'
import type { SiteState, Sites } from './sites.ts'

/** The exchange of one worker. */
export interface SiteExchange {
  /** Notes a change for the next {@link SiteExchange.exchange}. */
  note(state: SiteState): void
  /** Writes and reads changes. Rejects when the database is away; nothing is lost then. */
  exchange(): Promise<void>
}

/** At the start everything is read that may still hold. */
const FIRST_MS = 60 * 60_000
/** Read again, because writes of others become visible a little after their time. */
const OVERLAP_MS = 10_000

/** Makes the exchange of the worker `owner`. */
export function createSiteExchange(options: {
  mongo: Mongo
  owner: string
  now(): Date
  learn: Sites['learn']
}): SiteExchange {
  const { mongo, owner, now, learn } = options
  let changed = new Map<string, SiteState>()
  let since = new Date(now().getTime() - FIRST_MS)
  const seen = new Map<string, number>()

  const write = async () => {
    const batch = changed
    changed = new Map()
    try {
      await writeSites(
        mongo,
        [...batch.values()].map(state => toDoc(state, owner, now())),
      )
    } catch (error) {
      changed = new Map([...batch, ...changed])
      throw error
    }
  }

  const read = async () => {
    const asked = now()
    for await (const doc of changedSites(mongo, since)) {
      if (doc.by === owner || seen.get(doc._id) === doc.updated_at.getTime()) continue
      seen.set(doc._id, doc.updated_at.getTime())
      learn(toFinding(doc))
    }
    since = new Date(asked.getTime() - OVERLAP_MS)
    for (const [site, at] of seen) if (at < since.getTime()) seen.delete(site)
  }

  return {
    note: state => void changed.set(state.site, state),
    async exchange() {
      await write()
      await read()
    },
  }
}

function toDoc({ site, status, since, reason, resumeAt, window, rate }: SiteState, by: string, now: Date): SiteDoc {
  return {
    ...{ _id: site, state: status, since: new Date(since), limit: window, by, updated_at: now },
    ...(reason !== undefined && toStoredReason(reason)),
    ...(rate !== undefined && { rate }),
    ...(resumeAt > now.getTime() && { suspended_until: new Date(resumeAt) }),
  }
}

function toStoredReason(given: StoredSentence): Pick<SiteDoc, 'reason' | 'explanation'> {
  const { text, ...explanation } = explained(given)
  return { reason: text, ...explanation }
}

function toFinding({ _id, state, since, reason, explanation, suspended_until, rate, updated_at }: SiteDoc) {
  return {
    site: _id,
    status: state ?? 'throttled', // documents of release 0.1.0 say only that there is a pause
    since: (since ?? updated_at).getTime(),
    reason: explanation ?? reason,
    resumeAt: suspended_until?.getTime() ?? 0,
    rate,
    at: updated_at.getTime(),
  }
}
