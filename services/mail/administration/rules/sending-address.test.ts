import { expect, test } from 'vitest'
import { inEnglish, sentence } from '../../../platform/sentences/sentence.ts'
import type { Answer } from '../../dns/records/lookup.ts'
import { evaluateListing, evaluatePtr, listName, standingOf } from './sending-address.ts'

const found = (...values: string[]): Answer => ({ kind: 'found', values, ttl: 60 })
const missing: Answer = { kind: 'missing', reason: 'nxdomain' }
const silent: Answer = { kind: 'temporary', reason: sentence('dns.timeout') }
const IP = '192.0.2.10'
const HOST = 'mail.example.com'

test.each([
  ['192.0.2.10', 'zen.example', '10.2.0.192.zen.example'],
  ['2001:db8::1', 'zen.example', '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.zen.example'],
])('%s is asked of %s as %s', (ip, zone, name) => expect(listName(ip, zone)).toBe(name))

test.each([
  ['ok', found(HOST), found(IP)],
  ['ok', found('other.example', HOST), found('192.0.2.11', IP)],
  ['not_confirmed', found(HOST), found('192.0.2.11')],
  ['not_confirmed', found(HOST), missing],
  ['unknown', found(HOST), silent],
  ['other_name', found('static-10.provider.example'), found(IP)],
  ['missing', missing, found(IP)],
  ['unknown', silent, found(IP)],
] as const)('PTR %s: %o, pointing back %o', (status, ptr, back) => {
  expect(evaluatePtr(IP, 'Mail.Example.com', ptr, new Map([[HOST, back]])).status).toBe(status)
})

test.each([
  ['clear', missing, undefined, null],
  [
    'listed',
    found('127.0.0.2', '127.0.0.4'),
    found('See https://list.example/192.0.2.10'),
    'See https://list.example/192.0.2.10',
  ],
  ['listed', found('127.0.1.2'), missing, null],
  ['refused', found('127.255.255.254'), found('Error: open resolver'), 'Error: open resolver'],
  // The domain of a dead list was bought by an owner whose server answers everything.
  ['unknown', found('203.0.113.7'), undefined, null],
  ['unknown', silent, undefined, 'timeout'],
] as const)('a list says %s with %o', (status, answer, texts, reason) => {
  const verdict = evaluateListing('zen.example', answer, texts)
  expect(verdict).toMatchObject({ zone: 'zen.example', status })
  expect(verdict.reason && inEnglish(verdict.reason)).toBe(reason)
})

const list = (status: 'clear' | 'listed' | 'refused' | 'unknown') => ({ zone: 'z', status, codes: [], reason: null })
test.each([
  ['ok', 'ok', ['clear', 'refused']],
  ['ok', 'unknown', ['unknown']],
  ['warning', 'other_name', ['clear']],
  ['warning', 'not_confirmed', []],
  ['failing', 'missing', ['clear']],
  ['failing', 'ok', ['clear', 'listed']],
] as const)('the standing is %s with PTR %s and lists %o', (standing, ptr, lists) => {
  expect(standingOf({ status: ptr, names: [] }, lists.map(list))).toBe(standing)
})
