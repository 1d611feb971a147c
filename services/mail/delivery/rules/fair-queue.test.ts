import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Flow, Lane } from '../../store/rules/flow.ts'
import { FairQueue } from './fair-queue.ts'

const flow = (user_id: string, site: string, lane: Lane = 'transactional'): Flow => ({
  ...{ name: `${site} ${user_id} ${lane}`, slot: 0, site, user_id, lane },
})

function queueOf(...flows: Flow[]) {
  const queue = new FairQueue()
  for (const one of flows) queue.add(one)
  return queue
}

const plenty = () => 1_000
const counts = (draws: ReturnType<FairQueue['draw']>) =>
  Object.fromEntries(draws.map(({ flow: { name }, count }) => [name, count]))

describe('turns', () => {
  test.each([
    {
      name: 'of two accounts at one site are equal',
      flows: [flow('a', 'x'), flow('b', 'x')],
      expected: { 'x a transactional': 50, 'x b transactional': 50 },
    },
    {
      name: 'are of accounts first: an account with many destinations gets no more',
      flows: [flow('a', 'x'), flow('a', 'y'), flow('a', 'z'), flow('b', 'w')],
      expected: { 'x a transactional': 17, 'y a transactional': 17, 'z a transactional': 16, 'w b transactional': 50 },
    },
    {
      name: 'of bulk mail are one of five',
      flows: [flow('a', 'x'), flow('b', 'x', 'bulk')],
      expected: { 'x a transactional': 80, 'x b bulk': 20 },
    },
    {
      name: 'of bulk mail are all when nothing else waits',
      flows: [flow('b', 'x', 'bulk')],
      expected: { 'x b bulk': 100 },
    },
    {
      name: 'of system mail count as urgent',
      flows: [flow('a', 'x', 'system'), flow('b', 'x', 'bulk')],
      expected: { 'x a system': 80, 'x b bulk': 20 },
    },
  ])('$name', ({ flows, expected }) => {
    expect(counts(queueOf(...flows).draw(100, plenty))).toEqual(expected)
  })

  test('go on where the last draw ended', () => {
    const queue = queueOf(flow('a', 'x'), flow('b', 'x'), flow('c', 'x'))
    const users = () => queue.draw(1, plenty).map(({ flow: { user_id } }) => user_id)
    expect([users(), users(), users(), users()].flat()).toEqual(['a', 'b', 'c', 'a'])
  })

  test('an account that comes is next after one turn of each of the others', () => {
    const queue = queueOf(...Array.from({ length: 30 }, (_, n) => flow(`u${n}`, 'x')))
    queue.draw(17, plenty)
    queue.add(flow('late', 'x'))
    expect(queue.draw(31, plenty).some(({ flow: { user_id } }) => user_id === 'late')).toBe(true)
  })
})

describe('a site without room', () => {
  test('costs its accounts no turn elsewhere, and gets turns again once it has room', () => {
    const queue = queueOf(flow('a', 'full'), flow('a', 'free'), flow('b', 'full'))
    const room = (site: string) => (site === 'full' ? 0 : 10)
    expect(counts(queue.draw(5, room))).toEqual({ 'free a transactional': 5 })
    expect([...queue.sitesAside()]).toEqual(['full'])
    expect(counts(queue.draw(5, plenty))).toEqual({ 'free a transactional': 5 })
    queue.readmit('full')
    expect(counts(queue.draw(6, plenty))).toMatchObject({ 'full b transactional': 3 })
  })

  test('is given no more than its room, shared by its accounts', () => {
    const queue = queueOf(flow('a', 'x'), flow('b', 'x'))
    expect(counts(queue.draw(100, () => 6))).toEqual({ 'x a transactional': 3, 'x b transactional': 3 })
  })

  test('keeps what comes for it aside', () => {
    const queue = queueOf(flow('a', 'full'))
    queue.draw(1, () => 0)
    queue.add(flow('b', 'full'))
    expect(queue.draw(10, plenty)).toEqual([])
    queue.readmit('full')
    expect(counts(queue.draw(10, plenty))).toEqual({ 'full a transactional': 5, 'full b transactional': 5 })
  })
})

test('an account that has its share is passed over, keeps its turn, and costs the others none', () => {
  const queue = queueOf(flow('a', 'x'), flow('b', 'y'), flow('c', 'z', 'bulk'))
  const share = (user: string, more: number, all: number) => (user === 'a' ? more <= 1 : all <= 9)
  expect(counts(queue.draw(20, plenty, share))).toEqual({
    'x a transactional': 1,
    'y b transactional': 7,
    'z c bulk': 1,
  })
  expect(queue.draw(20, plenty, () => false)).toEqual([])
  expect(counts(queue.draw(1, plenty))).toEqual({ 'x a transactional': 1 })
})

test('a flow that was removed, wherever it waited, is not drawn', () => {
  const queue = queueOf(flow('a', 'x'), flow('a', 'full'), flow('b', 'y'))
  queue.draw(3, site => (site === 'full' ? 0 : 9))
  queue.remove('x a transactional')
  queue.remove('full a transactional')
  queue.remove('unknown')
  queue.readmit('full')
  expect(counts(queue.draw(3, plenty))).toEqual({ 'y b transactional': 3 })
  queue.retain(() => false)
  expect(queue.size).toBe(0)
  expect(queue.draw(3, plenty)).toEqual([])
})

/** Checks one draw against the flows that are known: nothing is wasted, and urgent turns are equal. */
function checkDraw(queue: FairQueue, known: readonly Flow[], room: number, full: string): void {
  const draws = queue.draw(room, site => (site === full ? 0 : 100))
  const open = known.filter(({ site }) => site !== full)
  const drawn = (user: string) =>
    draws.reduce(
      (sum, { flow: { user_id, lane }, count }) => sum + (user_id === user && lane !== 'bulk' ? count : 0),
      0,
    )
  expect(draws.reduce((sum, { count }) => sum + count, 0)).toBe(open.length > 0 ? room : 0)
  expect(draws.filter(({ flow: { name } }) => !open.some(one => one.name === name))).toEqual([])
  const users = new Set(open.filter(({ lane }) => lane !== 'bulk').map(({ user_id }) => user_id))
  const turns = [...users].map(drawn)
  expect(Math.max(0, ...turns) - Math.min(...turns, Math.max(0, ...turns))).toBeLessThanOrEqual(1)
}

test('no account waits longer than one turn of each other account with room, whatever is added, removed or full', () => {
  const given = fc
    .tuple(fc.nat(5), fc.nat(3), fc.boolean())
    .map(([user, site, bulk]) => flow(`u${user}`, `s${site}`, bulk ? 'bulk' : 'transactional'))
  const step = fc.oneof(
    fc.record({ add: given }),
    fc.record({ remove: given }),
    fc.record({ room: fc.integer({ min: 1, max: 9 }), full: fc.nat(4) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const queue = new FairQueue()
      const known = new Map<string, Flow>()
      for (const one of steps) {
        if ('add' in one) {
          queue.add(one.add)
          known.set(one.add.name, one.add)
        } else if ('remove' in one) {
          queue.remove(one.remove.name)
          known.delete(one.remove.name)
        } else {
          for (let n = 0; n < 4; n++) queue.readmit(`s${n}`)
          checkDraw(queue, [...known.values()], one.room, `s${one.full}`)
        }
        expect(queue.size).toBe(known.size)
      }
    }),
    { numRuns: 300 },
  )
})
