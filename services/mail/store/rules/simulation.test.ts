import { describe, expect, test } from 'vitest'
import { complains, isSimulated, isSuppressedAtSimulator, simulate, simulatedAttempt } from './simulation.ts'

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
  ['complained@example.com', ['delivered']],
  ['delivered@simulator.invalid', ['delivered']],
  ['complained+1@Simulator.Invalid', ['delivered']],
  ['suppressed@simulator.invalid', ['delivered']],
  ['bounced@simulator.invalid', ['bounced']],
  ['bounce@simulator.invalid', ['bounced']],
  ['__proto__@simulator.invalid', ['bounced']],
])('%s: %j', (email, types) => {
  expect(simulate(email).map(({ type }) => type)).toEqual(types)
})

test('an unknown address of the simulator names the known ones', () => {
  expect(simulate('bounce@simulator.invalid')[0].text).toMatch(/delivered, deferred, bounced, complained/)
})

test.each([
  ['deferred@simulator.invalid', 1, 451],
  ['deferred@simulator.invalid', 2, 250],
  ['deferred@simulator.invalid', 9, 250],
  ['bounced@simulator.invalid', 3, 550],
  ['delivered@simulator.invalid', 0, 250],
])('%s answers attempt %d with %d', (email, attempt, code) => {
  expect(simulatedAttempt(email, attempt).code).toBe(code)
})

test.each([
  ['a@simulator.invalid', true],
  ['a@SIMULATOR.invalid', true],
  ['a@mail.simulator.invalid', false],
  ['simulator.invalid@example.com', false],
  ['"a@simulator.invalid"@example.com', false],
])('%s is an address of the simulator: %s', (email, expected) => {
  expect(isSimulated(email)).toBe(expected)
})

test.each([
  ['Complained+x@simulator.invalid', [true, false]],
  ['suppressed@simulator.invalid', [false, true]],
  ['complained@example.com', [false, false]],
  ['suppressed@example.com', [false, false]],
])('%s complains, is suppressed: %j', (email, expected) => {
  expect([complains([{ email }], 0), isSuppressedAtSimulator(email)]).toEqual(expected)
})

describe('of the recipients of a message', () => {
  const numbered = (local: string, count: number, domain = 'simulator.invalid') =>
    Array.from({ length: count }, (_, n) => ({ email: `${local}+${n}@${domain}` }))
  const numbersOf = (rcpts: readonly { email: string }[]) => [...rcpts.keys()].filter(n => complains(rcpts, n))

  test('the first ten whose addresses ask for it complain, wherever they are', () => {
    const others = [...numbered('complained', 20, 'example.com'), ...numbered('delivered', 20)]
    expect(numbersOf([...others, ...numbered('complained', 500)])).toEqual([40, 41, 42, 43, 44, 45, 46, 47, 48, 49])
    expect(numbersOf([...numbered('complained', 9), ...others, ...numbered('complained', 2)])).toHaveLength(10)
    expect(numbersOf([])).toEqual([])
    expect(complains(numbered('complained', 2), 2)).toBe(false)
  })

  test('one that is not to complain reads why', () => {
    const [reason, other] = ['complained', 'bounced'].map(local =>
      simulatedAttempt(`${local}@simulator.invalid`, 1, false),
    )
    expect(reason).toMatchObject({
      type: 'delivered',
      code: 250,
      text: expect.stringContaining('at most 10 recipients'),
    })
    expect(other?.code).toBe(550)
    expect(simulatedAttempt('complained@example.com', 1, false).text).not.toContain('at most')
  })
})
