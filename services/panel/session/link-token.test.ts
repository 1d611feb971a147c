/** Reading the token of a link. */
import { expect, test } from 'vitest'
import { tokenIn } from './link-token.ts'

const TOKEN = 'aB3-_'.repeat(9).slice(0, 43)

test.each([
  [`#${TOKEN}`, TOKEN],
  [TOKEN, ''],
  [`#${TOKEN}x`, ''],
  [`#${TOKEN.slice(1)}`, ''],
  [`#${TOKEN.slice(1)}/`, ''],
  [`#${TOKEN}\n`, ''],
  ['#', ''],
  ['', ''],
])('%j has the token %j', (fragment, token) => expect(tokenIn(fragment)).toBe(token))
