import { describe, expect, test } from 'vitest'
import { flowOf, parseFlow, RELAY_SITE, rangeOfOtherMode, rangesOfSite, rangesOfSlots } from './flow.ts'

const parts = { slot: 7, site: 'example.net', user_id: 'usr_1', lane: 'bulk' as const }

const isIn = (name: string, { from, to }: { from: string; to: string }) => name >= from && name < to

describe('the name of a flow', () => {
  test.each([
    { relay: false, name: 'd 0007 example.net usr_1 bulk', flow: { slot: 7, site: 'example.net' } },
    { relay: true, name: 'r usr_1 bulk', flow: { slot: undefined, site: RELAY_SITE } },
  ])('is made and read (relay: $relay)', ({ relay, name, flow }) => {
    expect(flowOf(parts, relay)).toBe(name)
    expect(parseFlow(name, relay)).toEqual({ name, user_id: 'usr_1', lane: 'bulk', ...flow })
  })

  test('of the other mode, or of another form, is none', () => {
    for (const relay of [true, false]) {
      expect(parseFlow(flowOf(parts, !relay), relay)).toBeUndefined()
      for (const bad of ['', 'd', 'r usr_1', 'd 0007 example.net usr_1 express', 'x usr_1 bulk', 'r a b bulk'])
        expect(parseFlow(bad, relay)).toBeUndefined()
    }
  })

  test('holds address literals and names that begin like others', () => {
    const literal = flowOf({ ...parts, site: '[ipv6:2001:db8::1]' }, false)
    expect(parseFlow(literal, false)?.site).toBe('[ipv6:2001:db8::1]')
    const [range = { from: '', to: '' }, ...more] = rangesOfSite('example.net', [7, 9], false)
    expect(more.map(other => isIn(flowOf({ ...parts, slot: 9 }, false), other))).toEqual([true])
    expect(isIn(flowOf(parts, false), range)).toBe(true)
    for (const site of ['example.ne', 'example.net.au', 'example.neta', 'example.net!'])
      expect(isIn(flowOf({ ...parts, site }, false), range)).toBe(false)
    expect(isIn(flowOf({ ...parts, slot: 8 }, false), range)).toBe(false)
  })
})

describe('ranges of slots', () => {
  test.each([
    { slots: [], ranges: [] },
    { slots: [3], ranges: [['d 0003 ', 'd 0003!']] },
    { slots: [2, 0, 1], ranges: [['d 0000 ', 'd 0002!']] },
    {
      slots: [9, 4, 5, 4095],
      ranges: [
        ['d 0004 ', 'd 0005!'],
        ['d 0009 ', 'd 0009!'],
        ['d 4095 ', 'd 4095!'],
      ],
    },
  ])('$slots are as few as possible', ({ slots, ranges }) => {
    expect(rangesOfSlots(slots, false)).toEqual(ranges.map(([from, to]) => ({ from, to })))
  })

  test('hold the flows of these slots and no others', () => {
    const ranges = rangesOfSlots([4, 5, 9], false)
    for (let slot = 0; slot < 12; slot++)
      expect(ranges.some(range => isIn(flowOf({ ...parts, slot }, false), range))).toBe([4, 5, 9].includes(slot))
  })

  test('of the relay are all of its flows, and the other mode has none of them', () => {
    const [range = { from: '', to: '' }] = rangesOfSlots([1], true)
    expect(isIn(flowOf(parts, true), range)).toBe(true)
    expect(rangesOfSite(RELAY_SITE, [0, 3], true)).toEqual([range])
    for (const relay of [true, false]) {
      expect(isIn(flowOf(parts, !relay), rangeOfOtherMode(relay))).toBe(true)
      expect(isIn(flowOf(parts, relay), rangeOfOtherMode(relay))).toBe(false)
    }
  })
})
