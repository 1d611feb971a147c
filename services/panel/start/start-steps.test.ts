/** Progress of the getting-started steps. */
import { expect, test } from 'vitest'
import { nextStep, type Progress, type Step, stepsDone } from './start-steps.ts'

const nothing: Progress = { domains: [], logins: 0, tokens: 0, messages: [] }

test.each<[string, Partial<Progress>, Step[], Step | undefined]>([
  ['nothing yet', {}, [], 'domain'],
  ['a domain that waits for DNS', { domains: [{ may_send: false }] }, ['domain'], 'verify'],
  ['a domain that may send', { domains: [{ may_send: true }] }, ['domain', 'verify'], 'access'],
  [
    'one of several domains may send',
    { domains: [{ may_send: false }, { may_send: true }], tokens: 1 },
    ['domain', 'verify', 'access'],
    'send',
  ],
  ['an SMTP login counts like a token', { logins: 1 }, ['access'], 'domain'],
  [
    'sent but not delivered yet',
    { domains: [{ may_send: true }], logins: 1, messages: [{ status: 'deferred' }] },
    ['domain', 'verify', 'access', 'send'],
    'arrive',
  ],
  [
    'delivered',
    { domains: [{ may_send: true }], tokens: 1, messages: [{ status: 'bounced' }, { status: 'delivered' }] },
    ['domain', 'verify', 'access', 'send', 'arrive'],
    undefined,
  ],
])('%s', (_, has, done, next) => {
  const found = stepsDone({ ...nothing, ...has })
  expect([...found]).toEqual(done)
  expect(nextStep(found)).toBe(next)
})
