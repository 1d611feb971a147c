import { expect, test } from 'vitest'
import { absoluteName, canonicalName, isWithin, longestZone, relativeName, suffixesOf } from './dns-names.ts'

test('a name is within its zone only at a label border', () => {
  expect(isWithin('mail.example.com', 'example.com')).toBe(true)
  expect(isWithin('example.com', 'example.com')).toBe(true)
  expect(isWithin('notexample.com', 'example.com')).toBe(false)
})

test.each([
  ['example.com', '@'],
  ['s1._domainkey.example.com', 's1._domainkey'],
])('%s is %s in its zone, and back', (name, host) => {
  expect(relativeName(name, 'example.com')).toBe(host)
  expect(absoluteName(host, 'example.com')).toBe(name)
})

test('a name outside stays whole', () => expect(relativeName('other.test', 'example.com')).toBe('other.test'))

test('the sub-zone wins over its parent', () => {
  const zones = [{ name: 'example.com' }, { name: 'mail.example.com' }, { name: 'ample.com' }]
  expect(longestZone(zones, 's1.mail.example.com')?.name).toBe('mail.example.com')
  expect(longestZone(zones, 'www.example.com')?.name).toBe('example.com')
  expect(longestZone(zones, 'example.org')).toBeUndefined()
})

test('suffixes run from the name to the top', () => {
  expect(suffixesOf('a.example.com')).toEqual(['a.example.com', 'example.com', 'com'])
})

test('names of servers lose their dot and their capitals', () =>
  expect(canonicalName('Example.COM.')).toBe('example.com'))
