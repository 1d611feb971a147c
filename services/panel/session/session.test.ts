/** Parsing the search parameters of the sign-in page. */
import { expect, test } from 'vitest'
import { langOf, languageOf, signInSearch } from './session.ts'

test.each([
  [{ to: '/domains?after=x' }, { to: '/domains?after=x' }],
  [
    { to: '/domains', ended: true },
    { to: '/domains', ended: true },
  ],
  [{ to: '/', ended: true }, { ended: true }],
  [{ to: '/', ended: false }, {}],
  [{ ended: 'yes' }, {}],
  [{ to: '//evil.example' }, {}],
  [{ to: '/\\evil.example' }, {}],
  [{ to: 'https://evil.example' }, {}],
  [{ to: 'javascript:alert(1)' }, {}],
  [{ to: '' }, {}],
  [{ to: 7 }, {}],
  [{}, {}],
])('%j leads to %j', (raw, search) => {
  expect(signInSearch(raw)).toEqual(search)
})

test('language codes of the service and the panel are converted both ways', () => {
  expect((['en', 'zh'] as const).map(lang => langOf(languageOf(lang)))).toEqual(['en', 'zh'])
})
