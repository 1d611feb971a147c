import { expect, test } from 'vitest'
import { createByteGate } from '../../../platform/concurrency/byte-limit.ts'
import type { Claimed } from '../../store/deliveries.ts'
import { abortableDelay, createBell } from '../timing.ts'
import { Hand } from './in-flight.ts'

const delivery = (id: string, slot: number) => ({ _id: id, slot, tok: 'n', epoch: 1 }) as Claimed

test('a slot is idle when nothing of it is in hand', async () => {
  const hand = new Hand()
  const seen: string[] = []
  await hand.idle(1)
  hand.take([delivery('a', 1), delivery('b', 1), delivery('c', 2)])
  const waits = [hand.idle(1).then(() => seen.push('slot 1')), hand.idle().then(() => seen.push('all'))]
  hand.drop(delivery('a', 1))
  hand.drop(delivery('a', 1))
  expect(hand.size).toBe(2)
  hand.drop(delivery('b', 1))
  await waits[0]
  expect(seen).toEqual(['slot 1'])
  hand.drop(delivery('c', 2))
  await waits[1]
  expect(seen).toEqual(['slot 1', 'all'])
  expect(hand.has('a')).toBe(false)
  expect(hand.all()).toEqual([])
})

test('large things wait for room, in order; one larger than all of it goes alone', async () => {
  const gate = createByteGate(1_000_000)
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
  const gate = createByteGate(1_000, 0)
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

test('a body counts for as long as anything of its message is in hand', () => {
  const hand = new Hand()
  const of = (id: string) => ({ ...delivery(id, 1), m: id.split('.')[0] ?? '', site: id, user_id: 'usr_a' })
  hand.take([of('x.0'), of('x.1'), of('y.0')])
  hand.addBody('x', 100)
  hand.addBody('y', 20)
  hand.addBody('z', 7)
  expect([hand.bodyBytes, hand.heldFor('usr_a')]).toEqual([120, 3])
  hand.drop(of('x.0'))
  expect(hand.bodyBytes).toBe(120)
  hand.drop(of('x.1'))
  hand.drop(of('x.1'))
  expect(hand.bodyBytes).toBe(20)
  hand.drop(of('y.0'))
  expect([hand.bodyBytes, hand.heldFor('usr_a')]).toEqual([0, 0])
})

test('a bell ends one wait, also when it rang before', async () => {
  const bell = createBell()
  bell.ring()
  expect(await bell.wait(60_000)).toBe(true)
  const wait = bell.wait(60_000)
  bell.ring()
  expect(await wait).toBe(true)
  expect(await bell.wait(1)).toBe(false)
})

test('a delay ends early when the signal aborts', async () => {
  const end = new AbortController()
  const delay = abortableDelay(60_000, end.signal)
  end.abort()
  await delay
  await abortableDelay(60_000, end.signal)
})
