import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonError } from './json-text.ts'
import { JsonReader } from './streaming-reader.ts'

const LIMITS = { values: 1_000, members: 100, depth: 10, text: 1024, octets: 3 }

function read(document: string, sizes: readonly number[] = [], limits = LIMITS): unknown {
  const reader = new JsonReader(limits)
  let rest = Buffer.from(document)
  for (const size of sizes) {
    reader.push(rest.subarray(0, size))
    rest = rest.subarray(size)
  }
  reader.push(rest)
  return reader.end()
}

describe('a list of octets', () => {
  test.each<[string, string, unknown]>([
    ['longer than the bound is a Buffer', '[0,1,254,255]', Buffer.from([0, 1, 254, 255])],
    ['as a member', '{"data":[1,2,3,4],"b":1}', { data: Buffer.from([1, 2, 3, 4]), b: 1 }],
    ['in a list', '[[1,2,3,4],[5,6,7,8]]', [Buffer.from([1, 2, 3, 4]), Buffer.from([5, 6, 7, 8])]],
    ['with blanks', '[ 1, 2 ,3,  4 ]', Buffer.from([1, 2, 3, 4])],
    ['in other ways of writing', '[1.0,2e0,3,4]', Buffer.from([1, 2, 3, 4])],
    ['up to the bound stays a list', '[1,2,3]', [1, 2, 3]],
    ['that is empty stays a list', '{"a":[]}', { a: [] }],
    ['with a larger number stays a list', '[1,2,3,4,256]', [1, 2, 3, 4, 256]],
    ['with a negative number stays a list', '[1,2,3,4,-1,5]', [1, 2, 3, 4, -1, 5]],
    ['with a fraction stays a list', '[1,2,3,4,0.5]', [1, 2, 3, 4, 0.5]],
    ['with a text stays a list', '[1,2,3,4,"5",6]', [1, 2, 3, 4, '5', 6]],
    ['with a list stays a list', '[1,2,3,4,[5],6]', [1, 2, 3, 4, [5], 6]],
    ['with null stays a list', '[1,2,3,4,null]', [1, 2, 3, 4, null]],
  ])('%s, however it is cut', (_, document, expected) => {
    for (const sizes of [[], Array(document.length).fill(1), [2], [5, 1]])
      expect(read(document, sizes)).toEqual(expected)
  })

  test.each(['[1,2,3,4', '[1,2,3,4,', '[1,2,3,4,]', '[1,,2]', '[01,2]', '[1,02,3]', '[1,2 3]', '[1,2,3,4}', '[,1]'])(
    'that is no JSON is refused: %s',
    document => {
      for (const sizes of [[], Array(document.length).fill(1)]) expect(() => read(document, sizes)).toThrow(JsonError)
    },
  )

  test('counts as one value, and a list that ceases to be one as all of its values', () => {
    const octets = Array.from({ length: 100_000 }, (_, n) => n % 256)
    expect(read(JSON.stringify(octets))).toEqual(Buffer.from(octets))
    const mixed = `[${octets.join(',')},256]`
    expect(() => read(mixed)).toThrow('more than 1000 values')
    const short = `[${Array(400).fill('[1,2]').join(',')}]`
    expect(() => read(short)).toThrow('more than 1000 values')
  })

  test('stays a list where the reader is not asked for octets', () => {
    const { octets: _, ...limits } = LIMITS
    const reader = new JsonReader(limits)
    reader.push(Buffer.from('[1,2,3,4]'))
    expect(reader.end()).toEqual([1, 2, 3, 4])
  })

  test('of any bytes and any cuts is read as they are', () => {
    const bytes = fc.uint8Array({ minLength: 4, maxLength: 300 })
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        fc.boolean(),
        (given, sizes, blank) => {
          expect(read(`[${[...given].join(blank ? ', ' : ',')}]`, sizes)).toEqual(Buffer.from(given))
        },
      ),
      { numRuns: 300 },
    )
  })
})
