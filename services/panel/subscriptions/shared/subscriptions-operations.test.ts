/** The panel's operations match the contract. */
import { expect, test } from 'vitest'
import * as apps from '../../../subscriptions/catalogue/http/apps-contract.ts'
import * as rest from '../../../subscriptions/http/admin-contract.ts'
import * as webhooks from '../../../subscriptions/webhooks/http/webhooks-contract.ts'
import { operations } from './subscriptions-operations.ts'

const contract: Record<string, unknown> = { ...rest, ...apps, ...webhooks }

test.each(Object.entries(operations))('%s is %s', (name, line) => {
  const { method, path } = contract[name] as { method: string; path: string }
  expect(line).toBe(`${method} ${path}`)
})
