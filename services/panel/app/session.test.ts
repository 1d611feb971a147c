/** Where a sign-in may lead to. */
import { expect, test } from 'vitest'
import { langOf, languageOf, safePlace } from './session.ts'

test.each([
  ['/domains?after=x', '/domains?after=x'],
  ['/', '/'],
  ['//evil.example', undefined],
  ['/\\evil.example', undefined],
  ['https://evil.example', undefined],
  ['javascript:alert(1)', undefined],
  ['', undefined],
  [7, undefined],
  [undefined, undefined],
])('%s leads to %s', (to, place) => {
  expect(safePlace(to)).toBe(place)
})

test('languages have one name at the service and one in the browser', () => {
  expect((['en', 'zh'] as const).map(lang => langOf(languageOf(lang)))).toEqual(['en', 'zh'])
})
