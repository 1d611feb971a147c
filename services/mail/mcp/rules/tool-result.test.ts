import { describe, expect, test } from 'vitest'
import { adviceOnSize, boundedResult, resultText } from './tool-result.ts'

describe('boundedResult', () => {
  test.each<[string, unknown, unknown]>([
    ['values that are no text', { a: 1, b: null, c: true }, { a: 1, b: null, c: true }],
    ['Chinese text, emoji and line feeds', '送达，“您好” 👍🏽🇨🇳\n\tnext', '送达，“您好” 👍🏽🇨🇳\n\tnext'],
    ['joined emoji and chosen forms', '\u{1f469}\u200d\u{1f467} ❤\ufe0f 葛\u{e0100}城', '\u{1f469}\u{1f467} ❤ 葛城'],
    ['text in variation selectors', 'a\ufe00\ufe0f\u{e0100}\u{e0148}\u{e01ef}b', 'ab'],
    ['text in joiners', 'a\u200c\u200d\u200c\u200d\u200db', 'ab'],
    ['letters that show nothing', 'a\u034f\u115f\u1160\u17b4\u180b\u3164\uffa0b', `a${'\ufffd'.repeat(7)}b`],
    ['marks of annotations and of music', 'a\ufff9\u{1d173}\u{1bca0}\u{e0fff}b', `a${'\ufffd'.repeat(4)}b`],
    ['control characters', 'a\u0000b\u001b[31mc\u0085d', 'a\ufffdb\ufffd[31mc\ufffdd'],
    ['direction marks', 'a\u202eb\u2066c\u200ed', 'a\ufffdb\ufffdc\ufffdd'],
    ['text that is not seen', 'a\u200b\u2060\ufeff\u{e0041}\u{e007f}b', `a${'\ufffd'.repeat(5)}b`],
    ['names of fields as well', { 'a\u202e': 'x' }, { 'a\ufffd': 'x' }],
    [
      'codes and parameters of sentences',
      { text: 'a', text_code: 'b', text_params: {}, errors_codes: [] },
      { text: 'a', text_code: 'b' },
    ],
  ])('%s', (_, given, expected) => {
    expect(boundedResult(given)).toEqual({ result: expected, shortened: false })
  })

  test('shortens long texts, and cuts no character in two', () => {
    expect(boundedResult('x'.repeat(2_000))).toEqual({ result: 'x'.repeat(2_000), shortened: false })
    expect(boundedResult('x'.repeat(2_001))).toEqual({ result: `${'x'.repeat(2_000)} [shortened]`, shortened: true })
    expect(boundedResult(`${'x'.repeat(1_999)}😀y`).result).toBe(`${'x'.repeat(1_999)} [shortened]`)
  })

  test('shortens long lists', () => {
    expect(boundedResult(Array(100).fill(1)).shortened).toBe(false)
    expect(boundedResult(Array(101).fill(1))).toEqual({ result: Array(100).fill(1), shortened: true })
  })
})

describe('resultText', () => {
  test('is JSON, in which a text cannot end its string', () => {
    expect(resultText({ subject: '"}]\n' })).toBe('{"subject":"\\"}]\\n"}')
  })
  test('says first that something is missing', () => {
    expect(resultText({ list: Array(101).fill(1) })).toMatch(/^\{"shortened":true,"list":\[1,/)
  })
  test('is undefined when the whole is too long', () => {
    expect(resultText({ a: Array(40).fill('x'.repeat(2_000)) })).toHaveLength(80_127)
    expect(resultText({ a: Array(60).fill('x'.repeat(2_000)) })).toBeUndefined()
  })
})

test.each([
  [['q', 'limit'], 'The result is too large. Ask for fewer items (limit).'],
  [['id', 'recipient', 'limit'], 'The result is too large. Ask for one recipient (recipient) or fewer items (limit).'],
  [['since', 'until'], 'The result is too large. Ask for a shorter time (since, until).'],
  [['id'], expect.stringContaining('cannot show a part')],
  [[], expect.stringContaining('cannot show a part')],
])('a result that is too large for a tool with the inputs %j', (inputs, detail) => {
  expect(adviceOnSize(inputs)).toEqual(detail)
})
