/** Previews of templates on a real mongod: how many are kept, for whom, and how large they may be. */
import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { TEMPLATE_LIMITS } from '../rules/template-limits.ts'
import { KEPT, readPreview, savePreview } from './previews.ts'

const NOW = new Date('2026-11-24T12:00:00Z')

test('the latest previews of an account stay readable, and older ones go', async () => {
  const { db } = await databaseForThisTest()
  const keys = Array.from({ length: KEPT + 1 }, (_, n) => `prv_${n}`)
  for (const key of keys) await savePreview(db, 'usr_a', key, `<p>${key}</p>`, NOW)
  const read = await Promise.all(keys.map(key => readPreview(db, 'usr_a', key)))
  expect(read).toEqual([undefined, ...keys.slice(1).map(key => `<p>${key}</p>`)])
})

test('a preview of another account is not found', async () => {
  const { db } = await databaseForThisTest()
  await savePreview(db, 'usr_a', 'prv_1', 'A', NOW)
  await savePreview(db, 'usr_b', 'prv_2', 'B', NOW)
  expect(await readPreview(db, 'usr_b', 'prv_1')).toBeUndefined()
  expect(await readPreview(db, 'usr_b', 'prv_2')).toBe('B')
})

test('as many previews of the largest size as are kept fit one document', async () => {
  const { db } = await databaseForThisTest()
  const largest = '\u4e2d'.repeat(TEMPLATE_LIMITS.output)
  for (let n = 0; n <= KEPT; n++) await savePreview(db, 'usr_a', `prv_${n}`, largest, NOW)
  expect(await readPreview(db, 'usr_a', `prv_${KEPT}`)).toBe(largest)
})

test('a preview of the release before does not disturb the next one', async () => {
  const { db } = await databaseForThisTest()
  const former = { _id: 'usr_a' as never, key: 'prv_0', html: 'old', exp: NOW }
  await db.collection('template_previews').insertOne(former)
  expect(await readPreview(db, 'usr_a', 'prv_0')).toBeUndefined()
  await savePreview(db, 'usr_a', 'prv_1', 'new', NOW)
  expect(await readPreview(db, 'usr_a', 'prv_1')).toBe('new')
})
