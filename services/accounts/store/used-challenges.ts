/** Challenges of logins that were used: what the client holds sealed counts once. */
import * as field from '../../platform/database/fields.ts'
import { type Db, defineModel, insertUnique, modelOf } from '../../platform/database/models.ts'

/** `_id` names the challenge; removed once it would have expired. */
export const usedChallenges = defineModel('used_challenges', {
  _id: field.text,
  expires_at: field.date,
})
usedChallenges.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })

/** Uses up a challenge; of parallel uses one succeeds, and none later. */
export function takeChallenge(db: Db, id: string, expiresAt: Date): Promise<boolean> {
  return insertUnique(modelOf(db, usedChallenges), { _id: id, expires_at: expiresAt })
}
