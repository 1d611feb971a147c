/** What accounts keep sealed: secrets of authenticator apps. */
import { type Db, modelOf } from '../platform/database/models.ts'
import { reseal } from '../platform/security/reseal.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { secondFactorPlace } from './second-factor.ts'
import { secondFactors } from './store/second-factors.ts'

/** Seals all of it with the current secret; resolves to how many values were stale. */
export function resealAccounts(db: Db, secrets: Secrets): Promise<number> {
  return reseal(modelOf(db, secondFactors), secrets, ({ _id, sealed }) => [
    { path: 'sealed', sealed, purpose: 'totp', place: secondFactorPlace(_id) },
  ])
}
