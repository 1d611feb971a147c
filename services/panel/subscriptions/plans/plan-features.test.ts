/** Round trip of features between API and form. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { featuresOf, featuresText } from './plan-features.ts'

test.each([
  ['{"features":["a","b, c"]}', ['a', 'b, c']],
  ['{"features":["a",1,null]}', ['a']],
  ['{"features":"a"}', []],
  ['[]', []],
  ['null', []],
  ['not json', []],
  [undefined, []],
])('%s holds %o', (text, features) => {
  expect(featuresOf(text)).toEqual(features)
})

test('any input survives a round trip', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc
          .string()
          .map(text => text.replaceAll('\n', '').trim())
          .filter(Boolean),
      ),
      features => {
        expect(featuresOf(featuresText(features.join('\n')))).toEqual(features)
      },
    ),
  )
})
