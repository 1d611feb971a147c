import { expect, test } from 'vitest'
import { changedRecords } from './changed-records.ts'

const records = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map(one => ({ row: one.split('=')[0] ?? '', status: one.split('=')[1] ?? '' }))

test.each([
  ['nothing', 'spf=verified dkim=pending', 'spf=verified dkim=pending', []],
  ['nothing, in another order', 'spf=verified dkim=pending', 'dkim=pending spf=verified', []],
  [
    'a status',
    'spf=pending dkim=pending',
    'spf=verified dkim=pending',
    [{ row: 'spf', from: 'pending', to: 'verified' }],
  ],
  ['everything at the first check', '', 'spf=pending', [{ row: 'spf', to: 'pending' }]],
  ['a record that is new', 'spf=verified', 'spf=verified dkim:b=pending', [{ row: 'dkim:b', to: 'pending' }]],
  [
    'a record that is no longer wanted',
    'spf=verified dkim:a=verified',
    'spf=failed',
    [
      { row: 'spf', from: 'verified', to: 'failed' },
      { row: 'dkim:a', from: 'verified', to: 'removed' },
    ],
  ],
])('%s changed', (_what, before, after, changes) => {
  expect(changedRecords(records(before), records(after))).toEqual(changes)
})
