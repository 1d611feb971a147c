/** The text of a field as a list or a domain. */
import { expect, test } from 'vitest'
import { domainOf, splitLines, splitList } from './split-text.ts'

test.each([
  ['example.com', 'example.com'],
  [' example.com ', 'example.com'],
  ['https://example.com/', 'example.com'],
  ['https://www.example.com:8443/a?b=c#d', 'www.example.com'],
  ['HTTP://Example.com', 'Example.com'],
  ['https://user:secret@example.com/x@y', 'example.com'],
  ['hello@example.com', 'example.com'],
  ['Hello <hello@example.com>', 'example.com'],
  ['@example.com', 'example.com'],
  ['mailto:hello@example.com', 'example.com'],
  ['example.com/', 'example.com'],
  ['example.com/path', 'example.com'],
  ['example.com:25', 'example.com'],
  ['example.com.', 'example.com.'],
  ['bücher.example', 'bücher.example'],
  ['', ''],
  // What is not understood is sent as it is, for the service to refuse.
  ['no domain', 'no domain'],
])('%j is the domain %j', (text, domain) => {
  expect(domainOf(text)).toBe(domain)
})

test('lists are split at lines, and at commas where entries have none', () => {
  expect(splitList(' a, b\n\nc ,')).toEqual(['a', 'b', 'c'])
  expect(splitLines(' a, b\n\nc ,')).toEqual(['a, b', 'c ,'])
})
