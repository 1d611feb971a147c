import { expect, test } from 'vitest'
import { absoluteName, canonicalName, isWithin, longestZone, relativeName, suffixesOf } from './names.ts'

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

test.each([
  ['capitals and the last dot', 'Example.COM.', 'example.com'],
  ['characters of people', '_dmarc.例子.com', '_dmarc.xn--fsqu00a.com'],
  ['a wildcard', '*.Bücher.example', '*.xn--bcher-kva.example'],
  ['a host in a zone', '邮件', 'xn--5nq051n'],
  ['the zone itself', '@', '@'],
  ['what IDNA refuses', 'a b。\u200d', 'a b。\u200d'],
])('names as servers and providers give them: %s', (_, given, name) => expect(canonicalName(given)).toBe(name))
