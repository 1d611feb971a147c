import { expect, test } from 'vitest'
import { sender } from './allowed-sender.ts'

test.each([
  ['a domain', '@Example.COM', '@example.com'],
  ['a domain in other scripts', '@bücher.example', '@xn--bcher-kva.example'],
  ['an address', ' Info@Example.com ', 'Info@example.com'],
  ['an address in other scripts', 'info@bücher.example', 'info@xn--bcher-kva.example'],
])('%s is stored in one form', (_, typed, stored) => expect(sender.parse(typed)).toBe(stored))

test.each([
  '',
  '@',
  'example.com',
  '@com',
  'a@',
  'a@b',
  'a b@example.com',
  '@example.com, @example.org',
  'a@example.com\n'.repeat(2),
  '*@example.com\0',
  '@*.example.com',
])('%j is refused', typed => expect(sender.safeParse(typed).success).toBe(false))
