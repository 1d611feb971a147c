/** Progress of the getting-started steps. */
import { expect, test } from 'vitest'
import {
  domainToVerify,
  nextStep,
  type Progress,
  STEPS,
  type Step,
  senderOf,
  stepsDone,
  stepsInOrder,
} from './start-steps.ts'

const nothing: Progress = { domains: [], access: [], messages: [], counted: 0, bounced: undefined, deferred: undefined }
const sandbox = { name: 'sandbox.example.net', status: 'verified', verified_by: 'sandbox', may_send: true }
const pending = { name: 'pending.example', status: 'pending', verified_by: null, may_send: false }
const verified = { name: 'verified.example', status: 'verified', verified_by: 'dns', may_send: true }
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

test.each<[string, Progress['domains'], Step[], Step | undefined]>([
  ['a sandbox', [sandbox], [], 'send'],
  ['a sandbox', [sandbox], ['send'], 'domain'],
  ['a sandbox and a domain of its own', [pending, sandbox], ['send', 'domain'], 'verify'],
  ['a sandbox that may not send', [{ ...sandbox, may_send: false }], [], 'domain'],
  ['no domain', [], [], 'domain'],
  ['a domain that waits for DNS', [pending], ['domain'], 'verify'],
  ['a verified domain', [verified], ['domain', 'verify'], 'send'],
  ['everything', [sandbox, verified], [...STEPS], undefined],
])('an account with %s (%j), %j are complete: %s is next', (_, domains, done, next) => {
  const order = stepsInOrder(domains)
  expect(order.toSorted()).toEqual(STEPS.toSorted())
  expect(nextStep(order, new Set(done))).toBe(next)
})

test.each<[Progress['domains'], string | undefined, string | undefined]>([
  [[], undefined, undefined],
  [[sandbox], 'sandbox.example.net', undefined],
  [[pending], undefined, 'pending.example'],
  [[sandbox, pending], 'sandbox.example.net', 'pending.example'],
  [[pending, sandbox, { ...pending, name: 'latest.example' }], 'sandbox.example.net', 'latest.example'],
  [[sandbox, verified, pending], 'verified.example', 'verified.example'],
  [[sandbox, { ...verified, may_send: false }], 'sandbox.example.net', 'verified.example'],
])('of %j messages come from %s, and %s is the one to verify', (domains, sender, own) => {
  expect([senderOf(domains), domainToVerify(domains)]).toEqual([sender, own])
})
