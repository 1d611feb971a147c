import { expect, test } from 'vitest'
import { email } from './email.ts'

test.each([
  [' Ann@Example.NET ', 'ann@example.net'],
  ["o'hara+tag@mail.example.co.uk", "o'hara+tag@mail.example.co.uk"],
  ['ann', undefined],
  ['ann@', undefined],
  ['@example.net', undefined],
  ['ann@example', undefined],
  ['Ann <ann@example.net>', undefined],
  ['ann@example.net, bob@example.net', undefined],
  ['ann@example.net\r\nBcc: bob@example.net', undefined],
  ['ann@exa mple.net', undefined],
  [`${'a'.repeat(243)}@example.net`, undefined],
  ['', undefined],
])('%j is %j', (typed, stored) => expect(email.safeParse(typed).data).toBe(stored))
