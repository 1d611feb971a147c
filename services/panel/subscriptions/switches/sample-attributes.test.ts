import { expect, test } from 'vitest'
import { attributesOf } from './sample-attributes.ts'

test.each<[string, Record<string, string> | undefined]>([
  ['', undefined],
  ['\n  \n', undefined],
  ['platform', undefined],
  ['=ios', undefined],
  ['platform=ios', { platform: 'ios' }],
  [' platform = ios \nage=30', { platform: 'ios', age: '30' }],
  ['platform=', { platform: '' }],
  ['rule=a=b', { rule: 'a=b' }],
  ['a=1\na=2', { a: '2' }],
  ['name=Ada Lovelace\nplat', { name: 'Ada Lovelace' }],
])('%j are %j', (text, attributes) => {
  expect(attributesOf(text)).toEqual(attributes)
})
