import { expect, test } from 'vitest'
import type { Published } from '../../../services/mail/domains/publishing/publish-records.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { observedCondition, syncOfWrite, unlessLost } from './dns-synced-condition.ts'

type Item = Published['items'][number]

const item = (status: Item['status'], more: Partial<Item> = {}): Item => ({
  ...{ row: 'spf', action: 'create', name: 'shop.example', type: 'TXT', value: 'v=spf1 -all', ttl: 600 },
  ...{ zone: 'z1', reason: verbatim('It is missing.'), warnings: [], status },
  ...more,
})
const unknownPolicy = item('conflict', { code: 'policy_unknown', reason: verbatim('SERVFAIL.') })
const conflict = item('conflict', { code: 'several_records', reason: verbatim('Two records.') })
const acceptable = item('conflict', { code: 'foreign_value', acceptable: true, reason: verbatim('Another key.') })
const failed = item('failed', { message: verbatim('It is locked.') })
const { zone: _, ...withoutZone } = item('skipped', { reason: verbatim('No zone.') })
const stopped = (kind: NonNullable<Published['stopped']>['kind'], retryAfter?: number) => ({
  stopped: { kind, message: verbatim('No.'), ...(retryAfter === undefined ? {} : { retryAfter }) },
})

test.each<[string, Partial<Published>, string, object | undefined, RegExp]>([
  ['everything written or kept', { items: [item('done'), item('kept')] }, 'True InSync', undefined, /^All records/],
  [
    'warnings',
    { items: [item('done')], warnings: [verbatim('Paused.')] },
    'True InSync',
    undefined,
    /written\. Paused\.$/,
  ],
  ['refused credentials', stopped('auth'), 'False AuthFailed', {}, /^No\.$/],
  ['a missing permission', stopped('permission'), 'False PermissionDenied', {}, /^No\.$/],
  ['a missing zone', stopped('zone_not_found'), 'False ZoneNotFound', {}, /^No\.$/],
  ['a call limit', stopped('rate_limited', 90), 'Unknown RateLimited', { retryAfter: 90 }, /^No\.$/],
  ['an outage', stopped('unavailable'), 'Unknown ProviderError', {}, /^No\.$/],
  ['another writer', stopped('unsettled'), 'Unknown ProviderError', {}, /^No\.$/],
  ['an unknown policy only', { items: [unknownPolicy] }, 'Unknown LookupFailed', { longestMs: 60_000 }, /SERVFAIL/],
  ['a conflict', { items: [conflict] }, 'False Conflict', { retryAfter: 900 }, /^shop\.example TXT: Two .* provider;/],
  ['a conflict to accept', { items: [acceptable] }, 'False Conflict', { retryAfter: 900 }, /or set spec\.dns\./],
  [
    'an unknown policy and a conflict',
    { items: [unknownPolicy, conflict] },
    'False Conflict',
    { retryAfter: 900 },
    /Two/,
  ],
  ['a failed write', { items: [conflict, failed] }, 'False ProviderError', {}, /Two records\. .*: It is locked\.$/],
  ['a name without a zone', { items: [withoutZone] }, 'False ZoneNotFound', {}, /^No zone\. Add the zone/],
  [
    'an address of the sending host without a zone',
    { items: [{ ...withoutZone, row: 'address:192.0.2.1' }] },
    'True InSync',
    undefined,
    /./,
  ],
])('%s', (_what, published, expected, retry, message) => {
  const sync = syncOfWrite({ items: [], warnings: [], ...published })
  expect([`${sync.condition.status} ${sync.condition.reason}`, sync.retry]).toEqual([expected, retry])
  expect(sync.condition).toMatchObject({ type: 'DNSSynced', message: expect.stringMatching(message) })
})

const check = (...statuses: ('verified' | 'pending' | 'failed' | 'conflict' | 'temporary_failure')[]) => ({
  check: {
    ...{ at: new Date(0), attempts: 1, failures: 0, errors: [] },
    records: statuses.map((status, index) => ({
      ...{ row: `row${index}`, status, observed: [], errors: [], warnings: [], instructions: [] },
    })),
  },
})

test('a write that succeeded holds until a check sees a record missing', () => {
  const written = syncOfWrite({ items: [], warnings: [] }).condition
  expect(unlessLost(written, [])).toBe(written)
  const lost = unlessLost(written, [{ row: 'ownership' }, { row: 'spf' }])
  expect(lost).toMatchObject({ type: 'DNSSynced', status: 'False', reason: 'Drifted' })
  expect(lost.message).toContain('ownership, spf')
  const conflict = { ...written, status: 'False' as const, reason: 'Conflict' }
  expect(unlessLost(conflict, [{ row: 'spf' }])).toBe(conflict)
})

test.each<[string, Parameters<typeof observedCondition>[0], string, RegExp]>([
  ['no check yet', {}, 'Unknown Progressing', /not checked/],
  ['all records', check('verified', 'verified'), 'True InSync', /has all/],
  ['a lookup without an answer', check('verified', 'temporary_failure'), 'True InSync', /has all/],
  [
    'missing and wrong records',
    check('pending', 'verified', 'failed', 'conflict'),
    'False Guidance',
    /row0, row2, row3\.$/,
  ],
])('observed: %s', (_what, domain, expected, message) => {
  const condition = observedCondition(domain)
  expect(`${condition.status} ${condition.reason}`).toBe(expected)
  expect(condition.message).toMatch(message)
})
