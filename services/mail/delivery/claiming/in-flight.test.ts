import { expect, test } from 'vitest'
import { createByteLimit } from '../../../platform/concurrency/byte-limit.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import { InFlight } from './in-flight.ts'

const delivery = (id: string, slot: number) => ({ id, slot }) as ClaimedDelivery

test('a slot is idle when nothing of it is in flight', async () => {
  const inFlight = new InFlight()
  const seen: string[] = []
  await inFlight.whenIdle(1)
  inFlight.add([delivery('a', 1), delivery('b', 1), delivery('c', 2)])
  const waits = [inFlight.whenIdle(1).then(() => seen.push('slot 1')), inFlight.whenIdle().then(() => seen.push('all'))]
  inFlight.remove(delivery('a', 1))
  inFlight.remove(delivery('a', 1))
  expect(inFlight.size).toBe(2)
  inFlight.remove(delivery('b', 1))
  await waits[0]
  expect(seen).toEqual(['slot 1'])
  inFlight.remove(delivery('c', 2))
  await waits[1]
  expect(seen).toEqual(['slot 1', 'all'])
  expect(inFlight.has('a')).toBe(false)
  expect(inFlight.all()).toEqual([])
})

test('large things wait for room, in order; one larger than all of it goes alone', async () => {
  const gate = createByteLimit(1_000_000)
  const order: string[] = []
  const enter = (name: string, bytes: number) =>
    gate.enter(bytes).then(leave => {
      order.push(name)
      return leave
    })
  const first = await enter('first', 600_000)
  const second = enter('second', 600_000)
  const huge = enter('huge', 5_000_000)
  await enter('small', 1_000)
  expect(order).toEqual(['first', 'small'])
  first()
  first()
  const leave = await second
  expect(order).toEqual(['first', 'small', 'second'])
  leave()
  await huge
  expect(order.at(-1)).toBe('huge')
})

test('an account inside a gate gets no more than stays free, in its own order; others pass', async () => {
  const gate = createByteLimit(1_000, 0)
  const inside: string[] = []
  const enter = async (name: string, account: string, bytes: number) => {
    const leave = await gate.enter(bytes, account)
    inside.push(name)
    return leave
  }
  const first = await enter('a1', 'a', 300)
  void enter('a2', 'a', 450)
  void enter('a3', 'a', 10)
  await enter('b1', 'b', 600)
  const last = enter('c1', 'c', 200)
  expect(inside).toEqual(['a1', 'b1'])
  first()
  await last
  expect(inside).toEqual(['a1', 'b1', 'c1'])
})

test('a body counts for as long as anything of its message is in flight', () => {
  const inFlight = new InFlight()
  const of = (id: string) => ({ ...delivery(id, 1), messageId: id.split('.')[0] ?? '', site: id, userId: 'usr_a' })
  inFlight.add([of('x.0'), of('x.1'), of('y.0')])
  inFlight.addBody('x', 100)
  inFlight.addBody('y', 20)
  inFlight.addBody('z', 7)
  expect([inFlight.bodyBytes, inFlight.countOf('usr_a')]).toEqual([120, 3])
  inFlight.remove(of('x.0'))
  expect(inFlight.bodyBytes).toBe(120)
  inFlight.remove(of('x.1'))
  inFlight.remove(of('x.1'))
  expect(inFlight.bodyBytes).toBe(20)
  inFlight.remove(of('y.0'))
  expect([inFlight.bodyBytes, inFlight.countOf('usr_a')]).toEqual([0, 0])
})
