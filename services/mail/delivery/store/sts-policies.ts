/** MTA-STS policies of recipient domains (RFC 8461), shared by all workers until they expire. */
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import * as field from '../../../platform/database/fields.ts'
import { type DocumentOf, defineModel, modelOf } from '../../../platform/database/models.ts'
import { type Db, isDuplicateKey } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { type DownloadedPolicy, refreshAt } from '../rules/mta-sts.ts'

/** Domains that have or had a policy. A document goes when its policy expires. */
export const stsPolicies = defineModel('sts_policies', {
  /** The recipient domain, as its mail names it in lower case. */
  _id: field.text,
  id: field.text,
  /** `none` is stored as well: it ends an earlier policy at every worker. */
  mode: field.oneOf('enforce', 'testing', 'none'),
  mx: field.required([String]),
  fetched_at: field.date,
  expires_at: field.date,
  /** When the policy is downloaded again; the worker that does so moves it first. */
  refresh_at: field.date,
  /** The day on which mail last asked for it: policies without mail are left to expire. */
  used_at: field.date,
})
stsPolicies.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })
stsPolicies.schema.index({ refresh_at: 1 })

type StsPolicyDoc = DocumentOf<typeof stsPolicies>

/** Domains that one query asks for at most. */
const READS = { most: 200, mostBytes: Number.POSITIVE_INFINITY, flights: 2, sizeOf: () => 1 }
/** Policies of domains without mail for this time are not refreshed. */
const UNUSED_MS = 30 * DAY_MS

/** The stored policies of a database; lookups that begin at the same time share a query. */
export function createStsPolicies(db: Db, now: () => number) {
  const model = modelOf(db, stsPolicies)
  const noteUse = async (found: readonly StsPolicyDoc[]) => {
    const day = now() - DAY_MS
    const ids = found.filter(({ used_at }) => used_at.getTime() < day).map(({ _id }) => _id)
    if (ids.length > 0) await model.updateMany({ _id: { $in: ids } }, { used_at: new Date(now()) })
  }
  const read = createGroupCommit<string, { policy: DownloadedPolicy | undefined }>({
    ...READS,
    async write(names) {
      const found = await model.find({ _id: { $in: [...names] } }).lean()
      await noteUse(found)
      const byName = new Map(found.map(doc => [doc._id, toPolicy(doc)]))
      return names.map(name => ({ policy: byName.get(name) }))
    },
  })
  return {
    read: async (domain: string) => (await read(domain)).policy,

    /** Keeps a policy unless a later download is stored. */
    async write(domain: string, policy: DownloadedPolicy): Promise<void> {
      const fetched_at = new Date(policy.fetched)
      const { id, mode, mx } = policy
      const dates = { expires_at: new Date(policy.expires), refresh_at: new Date(refreshAt(policy)) }
      try {
        await model.updateOne(
          { _id: domain, fetched_at: { $lte: fetched_at } },
          { $set: { id, mode, mx, fetched_at, ...dates }, $setOnInsert: { used_at: fetched_at } },
          { upsert: true },
        )
      } catch (error) {
        if (!isDuplicateKey(error)) throw error // a later download is stored
      }
    },

    /**
     * The next policy whose download is due and that mail used lately, for one worker: its next turn comes after
     * `retryMs`, unless {@link write} sets another time. Undefined when none is due.
     */
    async claimDue(retryMs: number): Promise<{ domain: string; policy: DownloadedPolicy } | undefined> {
      const at = now()
      const due = { refresh_at: { $lte: new Date(at) }, used_at: { $gt: new Date(at - UNUSED_MS) } }
      const found = await model
        .findOneAndUpdate({ ...due, expires_at: { $gt: new Date(at) } }, { refresh_at: new Date(at + retryMs) })
        .sort({ refresh_at: 1 })
        .lean()
      return found ? { domain: found._id, policy: toPolicy(found) } : undefined
    },
  }
}

function toPolicy({ id, mode, mx, fetched_at, expires_at }: StsPolicyDoc): DownloadedPolicy {
  return { id, mode, mx, fetched: fetched_at.getTime(), expires: expires_at.getTime() }
}
