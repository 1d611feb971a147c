import { expect, test } from 'vitest'
import { simulate } from './simulation.ts'

test.each([
  ['user@example.com', ['delivered']],
  ['delivered+1@example.com', ['delivered']],
  ['bounced@example.com', ['bounced']],
  ['bounced+order-42@example.com', ['bounced']],
  ['Bounced+A@example.com', ['bounced']],
  ['deferred+x@example.com', ['deferred', 'delivered']],
  ['bouncedx@example.com', ['delivered']],
  ['x+bounced@example.com', ['delivered']],
  ['__proto__@example.com', ['delivered']],
  ['constructor+1@example.com', ['delivered']],
])('%s: %j', (email, types) => {
  expect(simulate(email).map(({ type }) => type)).toEqual(types)
})
