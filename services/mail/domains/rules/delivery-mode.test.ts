import { describe, expect, test } from 'vitest'
import {
  changeDelivery,
  type Diversion,
  diversionOf,
  type StoredDelivery,
  strictest,
  type WantedDelivery,
} from './delivery-mode.ts'

const CAPTURE: Diversion = { mode: 'capture' }
const REDIRECT: Diversion = { mode: 'redirect', to: 'qa@example.net' }

test.each<[string, StoredDelivery, Diversion | undefined]>([
  ['nothing', {}, undefined],
  ['capture', { delivery: 'capture' }, CAPTURE],
  ['redirect', { delivery: 'redirect', redirect_to: 'qa@example.net' }, REDIRECT],
  ['a redirect without an address', { delivery: 'redirect' }, CAPTURE],
])('a domain with %s stored diverts accordingly', (_, stored, expected) => {
  expect(diversionOf(stored)).toEqual(expected)
})

test.each<[(Diversion | undefined)[], Diversion | undefined]>([
  [[], undefined],
  [[undefined, undefined], undefined],
  [[undefined, REDIRECT], REDIRECT],
  [[REDIRECT, undefined, CAPTURE], CAPTURE],
  [[CAPTURE, REDIRECT], CAPTURE],
])('of %j the strictest is %j', (given, expected) => {
  expect(strictest(given)).toEqual(expected)
})

describe('a change', () => {
  test.each<[string, StoredDelivery, WantedDelivery, object]>([
    ['to capture', {}, { delivery: 'capture' }, { set: { delivery: 'capture' }, remove: ['redirect_to'] }],
    [
      'to redirect',
      { delivery: 'capture' },
      { delivery: 'redirect', redirect_to: 'QA@Example.NET' },
      { set: { delivery: 'redirect', redirect_to: 'QA@example.net' }, remove: [] },
    ],
    [
      'of the address alone',
      { delivery: 'redirect', redirect_to: 'a@example.net' },
      { redirect_to: 'b@example.net' },
      { set: { delivery: 'redirect', redirect_to: 'b@example.net' }, remove: [] },
    ],
    [
      'to redirect again, with the stored address',
      { delivery: 'redirect', redirect_to: 'a@example.net' },
      { delivery: 'redirect' },
      { set: { delivery: 'redirect', redirect_to: 'a@example.net' }, remove: [] },
    ],
    [
      'to live, which forgets the address',
      { delivery: 'redirect', redirect_to: 'a@example.net' },
      { delivery: 'live', redirect_to: null },
      { set: {}, remove: ['delivery', 'redirect_to'] },
    ],
  ])('%s', (_, stored, wanted, expected) => {
    expect(changeDelivery(stored, wanted)).toEqual({ kind: 'change', ...expected })
  })

  test.each<[string, StoredDelivery, WantedDelivery, string]>([
    ['a redirect without an address', {}, { delivery: 'redirect' }, 'field.redirect_needed'],
    [
      'a redirect that loses its address',
      { delivery: 'redirect', redirect_to: 'a@example.net' },
      { redirect_to: null },
      'field.redirect_needed',
    ],
    ['an address for capture', {}, { delivery: 'capture', redirect_to: 'a@example.net' }, 'field.redirect_unused'],
    ['an address for a live domain', {}, { redirect_to: 'a@example.net' }, 'field.redirect_unused'],
    ['no address', {}, { delivery: 'redirect', redirect_to: 'nobody' }, 'field.redirect_address'],
    [
      'two addresses',
      {},
      { delivery: 'redirect', redirect_to: 'a@example.net,b@example.net' },
      'field.redirect_address',
    ],
    [
      'an address with a command',
      {},
      { delivery: 'redirect', redirect_to: 'a@example.net>\r\nRCPT TO:<b@x.example' },
      'field.redirect_address',
    ],
    [
      'an address beyond ASCII',
      {},
      { delivery: 'redirect', redirect_to: 'grüße@example.net' },
      'field.redirect_address',
    ],
  ])('refuses %s', (_, stored, wanted, code) => {
    expect(changeDelivery(stored, wanted)).toMatchObject({ kind: 'wrong', reason: { code } })
  })
})
