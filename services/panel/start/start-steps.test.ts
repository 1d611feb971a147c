/** Progress of the getting-started steps. */
import { expect, test } from 'vitest'
import { nextStep, type Progress, STEPS, type Step, stepsDone, stepsInOrder } from './start-steps.ts'

const nothing: Progress = { domains: [], access: [], messages: [], counted: 0, bounced: undefined, deferred: undefined }
const sandbox = { status: 'verified', verified_by: 'sandbox', may_send: true }
const pending = { status: 'pending', verified_by: null, may_send: false }
const verified = { status: 'verified', verified_by: 'dns', may_send: true }
const to = (...emails: string[]) => ({
  status: 'delivered',
  source: 'api',
  recipients: emails.map(email => ({ email })),
})

test.each<[string, Partial<Progress>, Step[]]>([
  ['nothing yet', {}, []],
  ['the sandbox is no own domain', { domains: [sandbox] }, []],
  ['a domain that waits for DNS', { domains: [sandbox, pending] }, ['domain']],
  ['a domain whose records were found', { domains: [pending, verified] }, ['domain', 'verify']],
  ['a login that was never used', { access: [{ last_used_at: null }] }, []],
  ['a login that was used', { access: [{ last_used_at: null }, { last_used_at: '2026-01-01T00:00:00Z' }] }, ['use']],
  ['a message', { messages: [to('a@example.net')] }, ['send']],
  ['a message to the simulator alone', { messages: [to('bounced@simulator.invalid')] }, []],
  ['a message to the simulator as well', { messages: [to('bounced@simulator.invalid', 'a@example.net')] }, ['send']],
  ['a report of the service', { messages: [{ ...to('a@example.net'), source: 'system' }] }, []],
  ['a message that is no longer among the latest', { counted: 1 }, ['send']],
  ['a bounce that is under way', { bounced: { status: 'queued' } }, []],
  ['a bounce', { bounced: { status: 'bounced' } }, ['bounce']],
  ['a deferral that is under way', { deferred: { status: 'queued' } }, []],
  ['a deferral', { deferred: { status: 'deferred' } }, ['defer']],
  ['a deferral that was delivered', { deferred: { status: 'delivered' } }, ['defer']],
])('%s', (_, has, done) => {
  expect([...stepsDone({ ...nothing, ...has })]).toEqual(done)
})

test.each<[boolean, Step[], Step | undefined]>([
  [true, [], 'send'],
  [true, ['send'], 'domain'],
  [false, [], 'domain'],
  [false, ['domain'], 'verify'],
  [false, ['domain', 'verify'], 'send'],
  [true, [...STEPS], undefined],
])('capture mode %s, %j are complete: %s is next', (trial, done, next) => {
  const order = stepsInOrder(trial)
  expect(order.toSorted()).toEqual(STEPS.toSorted())
  expect(nextStep(order, new Set(done))).toBe(next)
})
