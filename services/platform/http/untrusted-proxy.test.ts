import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf } from '../database/mongo.ts'
import { silentLog } from '../observability/log.ts'
import { FORWARDING_NOTES, forwardingHeader, forwardingNotes, watchForwarding } from './untrusted-proxy.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  await collectionOf(mongo.db, FORWARDING_NOTES).deleteMany({})
})

function watched() {
  const clock = testClock()
  const warned: object[] = []
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) }
  return { clock, warned, watch: watchForwarding({ log, mongo, clock }) }
}
const peers = async () => (await forwardingNotes(mongo)).map(({ peer }) => peer)

test.each<[NodeJS.Dict<string | string[]>, string | undefined]>([
  [{}, undefined],
  [{ host: 'a', via: '1.1 proxy' }, undefined],
  [{ 'x-forwarded-for': '' }, 'x-forwarded-for'],
  [{ forwarded: 'for=192.0.2.1' }, 'forwarded'],
  [{ 'x-real-ip': '192.0.2.1' }, 'x-real-ip'],
])('of %j the header that a proxy adds is %s', (headers, expected) => {
  expect(forwardingHeader(headers)).toBe(expected)
})

test('a thousand requests are one line and one note, the next ones ten minutes later', async () => {
  const { clock, warned, watch } = watched()
  for (let i = 0; i < 1_000; i++) watch('10.0.0.7', 'x-forwarded-for')
  expect(warned).toEqual([{ peer: '10.0.0.7', header: 'x-forwarded-for' }])
  await until(async () => (await peers()).includes('10.0.0.7'))
  clock.advance(599_999)
  watch('10.0.0.8', 'x-forwarded-for')
  expect(warned).toHaveLength(1)
  clock.advance(1)
  watch('10.0.0.8', 'forwarded')
  expect(warned).toHaveLength(2)
  await until(async () => (await peers()).includes('10.0.0.8'))
  expect(await forwardingNotes(mongo)).toMatchObject([{ peer: '10.0.0.8', header: 'forwarded', seen_at: clock.now() }])
})

test('strangers outside cannot hide the proxy inside, nor fill anything', async () => {
  const { clock, warned, watch } = watched()
  for (let i = 1; i < 200; i++) {
    watch(`198.18.0.${i}`, 'x-forwarded-for')
    watch(`93.184.216.${i}`, 'x-forwarded-for')
    clock.advance(1_000)
  }
  await until(async () => (await peers()).length === 2)
  expect(await peers()).toEqual(['198.18.0.1', '93.184.216.1'])
  expect(warned).toHaveLength(2)
})

test('a closed connection has no address', async () => {
  const { warned, watch } = watched()
  watch('', 'x-forwarded-for')
  expect(warned).toEqual([])
})

test('an unavailable database is logged, and the request continues', async () => {
  const gone = await freshDatabase()
  await gone.stop()
  const warned: string[] = []
  const log = { ...silentLog, warn: (_: object, message: string) => void warned.push(message) }
  watchForwarding({ log, mongo: gone, clock: testClock() })('10.0.0.7', 'x-forwarded-for')
  await until(() => warned.length === 2)
  expect(warned[1]).toContain('could not be noted')
})
