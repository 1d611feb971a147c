import { describe, expect, test } from 'vitest'
import { giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { systemClock } from '../platform/clock.ts'
import { ensureIndexes } from '../platform/database/mongo.ts'
import { verifyPassword } from './password-hashing.ts'
import { resetPasswordByName } from './reset-password.ts'
import { listAudit } from './store/audit-log.ts'
import { findUser, users } from './store/users.ts'

async function depsOf() {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [users])
  return { mongo, clock: systemClock }
}

describe('a reset from the command line', () => {
  test.each(['', 'bob', '__proto__', '{"$ne":""}', '.*', 'ann\0', 'x'.repeat(10_000)])(
    'changes nothing for an unknown name: %j',
    async name => {
      const deps = await depsOf()
      await giveUser(deps.mongo.db, { username: 'ann' })
      expect(await resetPasswordByName(deps, name)).toEqual({ kind: 'unknown' })
      expect(await listAudit(deps.mongo.db, undefined, { limit: 10 })).toEqual([])
    },
  )

  test('of several in parallel the last one counts, and its password works', async () => {
    const deps = await depsOf()
    const user = await giveUser(deps.mongo.db, { username: 'ann' })
    const outcomes = await Promise.all([1, 2, 3].map(() => resetPasswordByName(deps, 'ann')))
    const hash = (await findUser(deps.mongo.db, user._id))?.password_hash
    const works = await Promise.all(
      outcomes.map(outcome => outcome.kind === 'reset' && verifyPassword(hash, outcome.password)),
    )
    expect(works.filter(Boolean)).toHaveLength(1)
  })
})
