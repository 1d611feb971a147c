import { describe, expect, test } from 'vitest'
import { findCodes, MAX_CODES } from './find-codes.ts'

describe('a code is found', () => {
  test.each<[string, string[]]>([
    ['Your code is 482913.', ['482913']],
    ['Your verification code: 0042', ['0042']],
    ['1234567890 is your one-time password', ['1234567890']],
    ['Use 482 913 to log in', ['482 913']],
    ['Use 482-913 to log in', ['482-913']],
    ['G-482913 is your verification code', ['G-482913']],
    ['Enter K7QX2M now', ['K7QX2M']],
    ['Device code: WDJB-1MHT', ['WDJB-1MHT']],
    ['(482913)', ['482913']],
    ['*482913*', ['482913']],
    ['您的验证码是 482913，5 分钟内有效。', ['482913']],
    ['验证码：482913', ['482913']],
    ['482913\r\n', ['482913']],
    ['Code 1111 or code 2222, once more 1111', ['1111', '2222']],
    [
      'Order 77120 of the shop, some words and more of them until the text is long. Your code is 482913',
      ['482913', '77120'],
    ],
  ])('in %j: %j', (text, expected) => {
    expect(findCodes(text)).toEqual(expected)
  })
})

describe('no code is', () => {
  test.each([
    ['123', 'a short number'],
    ['12345678901', 'a long number'],
    ['2026-11-24', 'a date'],
    ['24.11.2026', 'a date with points'],
    ['11/24/2026', 'a date with slashes'],
    ['12:30:45', 'a time'],
    ['12-34-56', 'what may be a date'],
    ['$1200', 'an amount'],
    ['1,200.50', 'a number with a point'],
    ['1200 €', 'an amount after the number'],
    ['45000%', 'a share'],
    ['+49 1512 3456789', 'a telephone number'],
    ['https://app.example/confirm/482913?code=482913', 'a link'],
    ['user482913@example.net', 'an address'],
    ['abc4829', 'part of a word'],
    ['WELCOME', 'a word in capitals'],
    ['#48291', 'a number with a hash'],
    ['id_482913', 'part of a name'],
    ['１２３４', 'digits of another script'],
    ['', 'nothing'],
  ])('%j: %s', text => {
    expect(findCodes(text)).toEqual([])
  })
})

test('a long text is searched at its beginning, and at most so many codes are answered', () => {
  const many = Array.from({ length: 500 }, (_, n) => `${10_000 + n}`).join('\n')
  expect(findCodes(many)).toHaveLength(MAX_CODES)
  expect(findCodes(`${' '.repeat(100_000)}482913`)).toEqual([])
})

test.each([
  ['digits', '1'.repeat(1_000_000)],
  ['groups', '12-'.repeat(300_000)],
  ['capitals', 'A1'.repeat(500_000)],
  ['addresses', 'a@'.repeat(500_000)],
  ['links', 'h://'.repeat(250_000)],
  ['amounts', '$1.'.repeat(300_000)],
])('a text of %s takes little time', (_, text) => {
  const started = performance.now()
  findCodes(text)
  expect(performance.now() - started).toBeLessThan(2_000)
})
