import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { CHECKS_MOST, insertCheck, listChecks } from './dns-checks.ts'
import { type DnsCheckDoc, dnsChecks } from './domain-model.ts'

test('a domain keeps its newest checks, and another domain all of its own', async () => {
  const mongo = await freshDatabase()
  onTestFinished(() => mongo.stop())
  await ensureIndexes(mongo.db, [dnsChecks])
  const check = (domain_id: string, n: number): DnsCheckDoc => {
    const at = new Date(Date.UTC(2026, 10, 1) + n * 60_000)
    const _id = newId('chk', at.getTime())
    const found = { outcome: 'pending' as const, records: [], changes: [], errors: [], ms: 1, queries: 1 }
    return { _id, user_id: 'usr_1', domain_id, at, by: 'request', ...found, exp: new Date(Date.UTC(2030, 1, 1)) }
  }
  const other = check('dom_2', 0)
  await insertCheck(mongo.db, other)
  const all = Array.from({ length: CHECKS_MOST + 3 }, (_, n) => check('dom_1', n))
  for (const one of all) await insertCheck(mongo.db, one)
  const ids = async (domain: string) => {
    const found = await listChecks(mongo.db, domain, { limit: CHECKS_MOST + 50 })
    return found.map(({ _id }) => _id)
  }
  expect(await ids('dom_1')).toEqual(
    all
      .slice(3)
      .toReversed()
      .map(({ _id }) => _id),
  )
  expect(await ids('dom_2')).toEqual([other._id])
}, 30_000)
