import { expect, test } from 'vitest'
import { mayRepair, type RepairMemory, rememberRepair } from './repair-loop.ts'

const start = new Date('2026-11-21T10:00:00Z')
const at = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
const after = (minutes: number[]) =>
  minutes.reduce<RepairMemory>((memory, minute) => rememberRepair(memory, at(minute)), {})

test('four repairs in a day are allowed, the fifth pauses them for a day', () => {
  expect(mayRepair(after([0, 15, 30, 45]), at(60))).toEqual({ allowed: true })
  const paused = after([0, 15, 30, 45, 60])
  expect(mayRepair(paused, at(61))).toEqual({ allowed: false, until: at(60 + 24 * 60) })
  expect(mayRepair(paused, at(60 + 24 * 60))).toEqual({ allowed: true })
})

test('repairs of other days do not count', () => {
  expect(mayRepair(after([0, 1440, 2880, 4320, 5760, 7200]), at(7201))).toEqual({ allowed: true })
})
