import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { partsOf, siteOf, slotOf, slotsOf } from './assign-slot.ts'

describe('siteOf', () => {
  test.each([
    ['gmail.com', 'google'],
    ['googlemail.com', 'google'],
    ['GMail.com', 'google'],
    ['hotmail.co.uk', 'microsoft'],
    ['live.com', 'microsoft'],
    ['aol.com', 'yahoo'],
    ['foxmail.com', 'tencent'],
    ['vip.163.com', 'netease'],
    ['example.com', 'example.com'],
    ['mail.gmail.com', 'mail.gmail.com'],
    ['xn--fiq228c.example', 'xn--fiq228c.example'],
    ['__proto__', '__proto__'],
  ])('%s belongs to %s', (domain, site) => {
    expect(siteOf(domain)).toBe(site)
  })
})

describe('slotOf', () => {
  test.each([
    ['a domain of its own', 'example.com', 64, false, 1],
    ['a large provider', 'google', 64, false, 8],
    ['a smaller provider', 'apple', 64, false, 4],
    ['a provider with fewer slots than parts', 'google', 3, false, 3],
    ['one slot', 'google', 1, false, 1],
    ['the relay', 'example.com', 64, true, 64],
  ])('%s spreads over its parts and no further', (_, site, slots, relay, parts) => {
    expect(partsOf(site, slots, relay)).toBe(parts)
    const used = new Set(Array.from({ length: 4000 }, (_, i) => slotOf(site, `em_${i}`, slots, relay)))
    expect(used.size).toBe(parts)
  })

  test('is an integer below the number of slots, and always the same', () => {
    fc.assert(
      fc.property(
        fc.domain(),
        fc.string(),
        fc.integer({ min: 1, max: 4096 }),
        fc.boolean(),
        (domain, id, slots, relay) => {
          const slot = slotOf(siteOf(domain), id, slots, relay)
          expect(Number.isInteger(slot) && slot >= 0 && slot < slots).toBe(true)
          expect(slotOf(siteOf(domain), id, slots, relay)).toBe(slot)
        },
      ),
    )
  })

  test('fills all slots evenly from many domains', () => {
    const counts = new Array<number>(64).fill(0)
    for (let i = 0; i < 64_000; i++) {
      const slot = slotOf(`d${i}.example`, 'em_1', 64, false)
      counts[slot] = (counts[slot] ?? 0) + 1
    }
    expect(Math.min(...counts)).toBeGreaterThan(800)
    expect(Math.max(...counts)).toBeLessThan(1200)
  })

  test('stays what it is: slots of stored deliveries depend on it', () => {
    expect(['example.com', 'google'].map(site => slotOf(site, 'em_01k3', 64, false))).toMatchInlineSnapshot(`
      [
        51,
        50,
      ]
    `)
  })
})

test.each([
  ['example.com', false, 1],
  ['google', false, 8],
  ['example.com', true, 64],
] as const)('slotsOf %s (relay: %s) names every slot that messages for it get, and no other', (site, relay, count) => {
  const used = new Set(Array.from({ length: 4000 }, (_, i) => slotOf(site, `em_${i}`, 64, relay)))
  expect(slotsOf(site, 64, relay)).toHaveLength(count)
  expect(new Set(slotsOf(site, 64, relay))).toEqual(used)
})
