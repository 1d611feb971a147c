import { expect, test } from 'vitest'
import { nextTurn } from './event-loop-turns.ts'

test('of all long work one piece runs in each round of the event loop', async () => {
  const rounds: string[][] = []
  let over = false
  const round = () => {
    rounds.push([])
    if (!over) setImmediate(round)
  }
  const work = async (name: string) => {
    for (let n = 0; n < 5; n++) {
      await nextTurn()
      rounds.at(-1)?.push(name)
    }
  }
  setImmediate(round)
  await Promise.all(['a', 'b', 'c'].map(work))
  over = true
  expect(rounds.flat()).toHaveLength(15)
  expect(rounds.every(pieces => pieces.length <= 1)).toBe(true)
})

test('later work waits for earlier work, and for nothing else', async () => {
  const done: number[] = []
  await Promise.all([1, 2, 3].map(n => nextTurn().then(() => done.push(n))))
  expect(done).toEqual([1, 2, 3])
  await nextTurn()
})
