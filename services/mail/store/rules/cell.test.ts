import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, timeOfId } from '../../../platform/ids.ts'
import { cellOf, cellOfSlot, distinct, idInCell, mostCells } from './cell.ts'

const TIME = Date.parse('2026-11-24T12:00:00Z')

describe('the id of a message', () => {
  test.each([0, 1, 2, 31, 32, 33, 1_023])('has its cell %i, and everything of the message has it too', cell => {
    const id = idInCell(newId('em', TIME), cell)
    expect(id).toMatch(/^em_[0-9a-hjkmnp-z]{26}$/)
    expect([id, `${id}.0`, `${id}.17#3`, `${id}#2`, `${id}.4#report-bounced`].map(cellOf)).toEqual(Array(5).fill(cell))
    expect(timeOfId(id)).toBe(TIME)
  })

  test('of every earlier release is in cell 0, and one of cell 0 has the same form', () => {
    for (let n = 0; n < 5_000; n++) {
      const id = newId('em')
      expect(cellOf(id)).toBe(0)
      expect(idInCell(id, 0)).toBe(id)
    }
  })

  test('sorts by its time, whatever its cell is', () => {
    const ids = [3, 0, 1_000, 2].map((cell, n) => idInCell(newId('em', TIME + n), cell))
    expect(ids.toSorted()).toEqual(ids)
  })

  test('of one cell still differs from all others', () => {
    const ids = Array.from({ length: 20_000 }, () => idInCell(newId('em', TIME), 5))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test.each(['', 'em_', 'em_1', 'u'.repeat(40), 'em_01k3aaaaaaaaaaaaaaaaaaaauzu', 'em_01k3aaaaaaaaaaaaaaaaaaaau00'])(
    'that is none of ours (%j) is in a cell that exists: 0',
    text => expect(cellOf(text)).toBe(0),
  )

  test('of any text gives a whole number that is not negative', () => {
    fc.assert(fc.property(fc.string({ maxLength: 40 }), text => Number.isInteger(cellOf(text)) && cellOf(text) >= 0))
  })
})

test.each([
  [0, 64, 0],
  [63, 64, 0],
  [64, 64, 1],
  [191, 64, 2],
])('slot %i of %i a cell is in cell %i', (slot, slots, cell) => {
  expect(cellOfSlot(slot, slots)).toBe(cell)
})

test.each([
  [64, 156],
  [1, 1_024],
  [4_096, 2],
  [9_999, 1],
])('%i slots a cell allow %i cells: flows name slots by four digits', (slots, cells) => {
  expect(mostCells(slots)).toBe(cells)
})

test('distinct sorts numbers as numbers', () => {
  expect(distinct([10, 2, 10, 0, 2])).toEqual([0, 2, 10])
})
