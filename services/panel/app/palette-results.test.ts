import { describe, expect, test } from 'vitest'
import { longestWord, matching, type PaletteEntry, searchedApps } from './palette-results.ts'

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

describe('users are searched in', () => {
  const apps = ['shop', 'desk', 'game'].map(app_key => ({ app_key }))
  const keys = (of: readonly { app_key: string }[]) => of.map(({ app_key }) => app_key)

  test.each<[string, string | undefined, string[]]>([
    ['all apps while none was opened', undefined, ['shop', 'desk', 'game']],
    ['the app that was opened last before others', 'game', ['game', 'shop', 'desk']],
    ['the other apps when the last one is gone', 'old', ['shop', 'desk', 'game']],
  ])('%s', (_, last, expected) => expect(keys(searchedApps(apps, last))).toEqual(expected))

  test('ten apps at most, the last one among them', () => {
    const many = Array.from({ length: 30 }, (_, n) => ({ app_key: `app-${n}` }))
    const searched = keys(searchedApps(many, 'app-29'))
    expect([searched.length, searched[0], searched[1]]).toEqual([10, 'app-29', 'app-0'])
  })
})
