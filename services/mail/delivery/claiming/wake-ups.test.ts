import { expect, test } from 'vitest'
import { WakeUps } from './wake-ups.ts'

test('a notification ends one wait, also when it came before', async () => {
  const wakeUps = new WakeUps()
  wakeUps.notify()
  expect(await wakeUps.wait(60_000)).toBe(true)
  const wait = wakeUps.wait(60_000)
  wakeUps.notify()
  expect(await wait).toBe(true)
  expect(await wakeUps.wait(1)).toBe(false)
})

test('what wake-ups name is taken once, each name once', async () => {
  const wakeUps = new WakeUps()
  wakeUps.newMail(['a', 'b'])
  wakeUps.newMail(['b'])
  wakeUps.siteHasRoom('x.example')
  expect(await wakeUps.wait(60_000)).toBe(true)
  expect([wakeUps.takeFlows(), wakeUps.takeSites()]).toEqual([['a', 'b'], ['x.example']])
  expect([wakeUps.takeFlows(), wakeUps.takeSites()]).toEqual([[], []])
})

test('flows that are only added wake nothing', async () => {
  const wakeUps = new WakeUps()
  wakeUps.addFlows(['a'])
  expect(await wakeUps.wait(1)).toBe(false)
  expect(wakeUps.takeFlows()).toEqual(['a'])
})
