/** The panel's operations match the contracts. */
import { expect, test } from 'vitest'
import * as accounts from '../../accounts/http/accounts-contract.ts'
import * as mail from '../../mail/http/contract.ts'
import { operations } from './operations.ts'

const contract: Record<string, unknown> = { ...accounts, ...mail }

test.each(Object.entries(operations))('%s is %s', (name, line) => {
  const { method, path } = contract[name] as { method: string; path: string }
  expect(line).toBe(`${method} ${path}`)
})

test('no operation has the same name in two contracts', () => {
  const both = Object.keys(accounts).filter(name => name in mail)
  expect(both).toEqual([])
})
