import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { render } from '../sentences/render.ts'
import { chinese } from '../sentences/zh-cn/index.ts'
import { JsonError, LargeText } from './json-text.ts'
import { JsonReader } from './streaming-reader.ts'

const LIMITS = { values: 100_000, members: 1_000, depth: 1_000, text: 1024 * 1024 }

/** Reads a document that arrives in chunks of these sizes (and then in one). */
function read(document: string | Buffer, sizes: readonly number[] = [], limits = LIMITS): unknown {
  const reader = new JsonReader(limits)
  let rest = Buffer.from(document as string)
  for (const size of sizes) {
    reader.push(rest.subarray(0, size))
    rest = rest.subarray(size)
  }
  reader.push(rest)
  return reader.end()
}

const failureOf = (document: string | Buffer, limits = LIMITS) => {
  try {
    read(document, [], limits)
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('a document', () => {
  test.each([
    '{}',
    '[]',
    '[[],{},[{}],{"a":[]}]',
    ' { "a" : [ 1 , -0.5e+3 , true , false , null , "" ] } \r\n\t',
    '{"a":1,"a":2}',
    '{"":0,"constructor":1,"toString":2,"0":3}',
    String.raw`["\"\\\/\b\f\n\r\t","\u0041\u00e9\u4e2d\ud83d\ude00","Grüße 中文 😀"]`,
    '[0,-0,1e999,1E-2,123456789012345678901234567890]',
    '"text"',
    '12',
    'true',
    ' null ',
    `"${'ä'.repeat(200_000)}"`,
    `${'['.repeat(900)}${']'.repeat(900)}`,
  ])('is read like JSON.parse reads it, however it is cut: %.60s', document => {
    const expected = JSON.parse(document)
    const { length } = Buffer.from(document)
    const cuts = [[], Array(Math.min(length, 2_000)).fill(1), [3], [length - 1], Array(20).fill(7)]
    for (const sizes of cuts) expect(read(document, sizes)).toEqual(expected)
  })

  test.each([
    '',
    ' ',
    '{',
    '[',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{1:1}',
    '[1}',
    '{"a":1]',
    '{}{}',
    '[]]',
    '}',
    ':',
    ',',
    '[01]',
    '[+1]',
    '[1.]',
    '[.5]',
    '[1e]',
    '[--1]',
    '[NaN]',
    '[tru]',
    '[trueish]',
    '[True]',
    '"',
    '"abc',
    '"\\',
    '"\\u12',
    String.raw`"\x"`,
    String.raw`"\u12g4"`,
    '"a\nb"',
    '"a\0b"',
    '// comment\n{}',
    '{}x',
    '\u00a0{}',
  ])('that JSON.parse refuses is refused: %j', document => {
    expect(() => JSON.parse(document)).toThrow()
    expect(failureOf(document).kind).toBe('syntax')
  })

  test.each<[string, string | Buffer]>([
    ['a high surrogate alone', String.raw`["\ud83d"]`],
    ['a low surrogate alone', String.raw`["\ude00"]`],
    ['a high surrogate before text', String.raw`["\ud83dx"]`],
    ['a high surrogate before another escape', String.raw`["\ud83d\n"]`],
    ['two high surrogates', String.raw`["\ud83d\ud83d\ude00"]`],
    ['surrogates in the wrong order', String.raw`["\ude00\ud83d"]`],
    ['a lone surrogate in a name', String.raw`{"\udead":1}`],
    ['a lone surrogate in CESU-8', Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22])],
    ['Latin-1', Buffer.from('["Grüße"]', 'latin1')],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['half a character', Buffer.from([0x22, 0xe4, 0xb8, 0x22])],
    ['a character beyond Unicode', Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22])],
    ['a character cut by an escape', Buffer.concat([Buffer.from([0x22, 0xc3]), Buffer.from('\\n"')])],
    ['a prototype', '{"__proto__":{}}'],
    ['a prototype by its code', String.raw`{"a":[{"\u005f_proto__":1}]}`],
  ])('is refused for %s', (_, document) => {
    expect(failureOf(document).kind).toBe('syntax')
  })

  test.each<[string, string, string]>([
    [
      '{"a":1,}',
      '"}" at octet 7, where a name in double quotes is expected',
      '第 7 个字节处是"}"，此处应为双引号内的名称',
    ],
    [
      '{\xe2\x80\x9ca":1}',
      '"“" at octet 1, where a name in double quotes or } is expected',
      '第 1 个字节处是"“"，此处应为双引号内的名称或 }',
    ],
    ['{"a":tru', '"tru" at octet 8, where a value is expected', '第 8 个字节处是"tru"，此处应为值'],
    ['{"a" 1}', '"1" at octet 5, where ":" is expected', '第 5 个字节处是"1"，此处应为":"'],
    [
      '[1',
      'the end of the text at octet 2, where a comma or a closing bracket is expected',
      '第 2 个字节处是文本结尾，此处应为逗号或右括号',
    ],
    ['{}{', '"{" at octet 2, where the end of the text is expected', '第 2 个字节处是"{"，此处应为文本结尾'],
    [
      '["a',
      'the end of the text at octet 3, where the end of a string is expected',
      '第 3 个字节处是文本结尾，此处应为字符串的结尾',
    ],
    ['["a\n', 'a control character in a string at octet 3', '第 3 个字节处的字符串中有控制字符'],
    ['["\\x"]', 'an unknown escape at octet 3', '第 3 个字节处有无法识别的转义'],
    ['["ok","\xe4"]', 'text near octet 7 is not UTF-8', '第 7 个字节附近的文本不是 UTF-8'],
  ])('says what is wrong with %j and where, in both languages', (document, inEnglish, inChinese) => {
    const failure = failureOf(Buffer.from(document, 'latin1'))
    expect(failure.message).toBe(inEnglish)
    expect(render(failure.sentence, chinese)).toBe(inChinese)
  })
})

const anyJson = fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme-composite' }).filter(isPlain)

test('whatever JSON.stringify writes is read back, however it is cut', () => {
  fc.assert(
    fc.property(anyJson, fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 }), (value, sizes) => {
      const document = JSON.stringify(value)
      expect(read(document, sizes)).toEqual(JSON.parse(document))
    }),
    { numRuns: 500 },
  )
})

test('a document with one octet changed is read or refused exactly like JSON.parse does', () => {
  const char = fc.constantFrom(...'{}[]:,"\\ \n0-+.eEtfnu', '\u0001', 'a', 'é')
  fc.assert(
    fc.property(anyJson, fc.nat(), char, (value, place, other) => {
      const document = JSON.stringify(value)
      const at = place % document.length
      const changed = document.slice(0, at) + other + document.slice(at + 1)
      fc.pre(changed.isWellFormed() && !/\\u[dD][89a-fA-F]|__proto__/.test(changed))
      let expected: unknown
      try {
        expected = JSON.parse(changed)
      } catch {
        expect(failureOf(changed).kind).toBe('syntax')
        return
      }
      expect(read(changed)).toEqual(expected)
    }),
    { numRuns: 1_000 },
  )
})

describe('a document that is too large', () => {
  test('is refused at the value that is too much, and no sooner', () => {
    const limits = { ...LIMITS, values: 5 }
    expect(read('[1,2,{"a":3}]', [], limits)).toEqual([1, 2, { a: 3 }])
    expect(failureOf('[1,2,{"a":3},4]', limits)).toMatchObject({ kind: 'size', message: 'more than 5 values' })
    expect(failureOf('[1,2,3,4,5', limits).kind).toBe('size')
  })

  test('is refused at the member that is too much for its object', () => {
    const limits = { ...LIMITS, members: 2 }
    const document = '{"a":{"b":1,"c":2},"d":[1,2,3,{"e":1,"f":{}}]}'
    expect(read(document, [], limits)).toEqual(JSON.parse(document))
    const message = 'an object with more than 2 members'
    expect(failureOf('{"a":1,"b":2,"c":', { ...limits, members: 2 }).kind).toBe('syntax')
    for (const large of ['{"a":1,"b":2,"c":3', '[{"a":{"b":1,"c":{},"d":[', '{"a":1,"a":2,"a":3'])
      expect(failureOf(large, limits)).toMatchObject({ kind: 'size', message })
  })

  test('is refused at the level that is too deep', () => {
    const limits = { ...LIMITS, depth: 3 }
    expect(read('[[[1]]]', [], limits)).toEqual([[[1]]])
    expect(failureOf('[[{"a":[]}]]', limits)).toMatchObject({ kind: 'size', message: 'more than 3 levels (octet 7)' })
  })

  test('is refused for a name of 64 KiB and more, and for a number of 1 KiB and more', () => {
    expect(failureOf(`{"${'n'.repeat(65_537)}":1}`).kind).toBe('size')
    expect(failureOf(`[${'9'.repeat(1_025)}]`).kind).toBe('syntax')
  })
})

test('a string above the limit is delivered in blocks, its escapes decoded', () => {
  const limits = { ...LIMITS, text: 100_000 }
  const piece = String.raw`ab\n\u00e9`
  const document = JSON.stringify({ a: 'x'.repeat(100_000) }).replace('}', `,"b":"${piece.repeat(30_000)}","c":"end"}`)
  const value = read(document, Array(5).fill(33_333), limits) as { a: unknown; b: LargeText; c: unknown }
  expect([value.a, value.c]).toEqual(['x'.repeat(100_000), 'end'])
  expect(value.b).toBeInstanceOf(LargeText)
  expect(value.b.blocks.slice(0, -1).every(({ length }) => length === 65_536)).toBe(true)
  expect(value.b.bytes).toBe(30_000 * 5)
  expect(Buffer.concat(value.b.blocks).toString()).toBe('ab\né'.repeat(30_000))
})

function isPlain(value: unknown): boolean {
  return !JSON.stringify(value).includes('__proto__')
}
