import { expect, test } from 'vitest'
import { longestWord, matching, type PaletteEntry } from './palette-results.ts'

const entries: PaletteEntry[] = [
  { kind: 'page', label: 'Message log', hint: 'Mail', href: '/messages' },
  { kind: 'page', label: 'Sending limits', hint: 'Access', href: '/limits' },
  { kind: 'domain', label: 'mail.example.com', href: '/domains/mail.example.com' },
]

test.each([
  ['', ['/messages', '/limits', '/domains/mail.example.com']],
  ['LOG', ['/messages']],
  ['mail log', ['/messages']],
  ['limits access', ['/limits']],
  ['  example ', ['/domains/mail.example.com']],
  ['mail', ['/messages', '/domains/mail.example.com']],
  ['nothing', []],
  ['.*', []],
])('%j finds %j', (text, found) => {
  expect(matching(entries, text).map(({ href }) => href)).toEqual(found)
})

test('at most six entries are found', () => {
  const many = Array.from({ length: 20 }, (_, n): PaletteEntry => ({ kind: 'user', label: `user ${n}`, href: '/' }))
  expect(matching(many, 'user')).toHaveLength(6)
})

test.each([
  ['', ''],
  ['mail', 'mail'],
  ['ann mail.example.com', 'mail.example.com'],
  ['ab cd', 'ab'],
])('the service is asked for the longest word of %j', (text, word) => {
  expect(longestWord(text)).toBe(word)
})
