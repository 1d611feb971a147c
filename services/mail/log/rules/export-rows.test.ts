import { expect, test } from 'vitest'
import { EXPORT_COLUMNS, type ExportedMessage, exportRows } from './export-rows.ts'

const created_at = new Date('2026-11-21T10:00:00Z')
const message = (change: Partial<ExportedMessage>) =>
  ({
    ...{ _id: 'em_1', created_at, from: 'ann@example.com', subject: 'Hi', message_id: '<1@example.com>' },
    via: { channel: 'http', id: 'key_1' },
    rcpts: [{ email: 'bob@example.net', status: 'queued' }],
    ...change,
  }) as ExportedMessage
const cells = (change: Partial<ExportedMessage>, name: (typeof EXPORT_COLUMNS)[number]) =>
  exportRows(message(change)).map(row => row[EXPORT_COLUMNS.indexOf(name)])

test('a row has a cell for each column', () => {
  const rows = exportRows(message({}))
  expect(rows.map(row => row.length)).toEqual([EXPORT_COLUMNS.length])
  expect(rows[0]).toEqual([
    ...['em_1', created_at.toISOString(), 'ann@example.com', 'bob@example.net', 'queued', '', '', '', ''],
    ...['Hi', '<1@example.com>', 'api', 'key_1', ''],
  ])
})

test('each recipient has a row with its own state', () => {
  const rcpts: ExportedMessage['rcpts'] = [
    {
      email: 'a@example.net',
      status: 'bounced',
      code: 550,
      enhanced: '5.1.1',
      kind: 'address',
      at: created_at,
    },
    // Delivered after a failure: the class is no reason any more.
    { email: 'b@example.net', status: 'delivered', code: 250, kind: 'greylisted' },
    // A class of a later release.
    { email: 'c@example.net', status: 'failed', kind: 'new' },
  ]
  expect(cells({ rcpts }, 'recipient')).toEqual(['a@example.net', 'b@example.net', 'c@example.net'])
  expect(cells({ rcpts }, 'reason')).toEqual(['address', '', ''])
  expect(cells({ rcpts }, 'smtp_code')).toEqual(['550', '250', ''])
  expect(cells({ rcpts }, 'status_at')).toEqual([created_at.toISOString(), '', ''])
})

test.each([
  [{ via: { channel: 'smtp' as const, id: 'smtp_1' } }, 'source', 'smtp'],
  [{ via: { channel: 'system' as const } }, 'submitted_with', ''],
  [
    {
      tags: [
        { name: 'a', value: '1' },
        { name: 'b', value: '' },
      ],
    },
    'tags',
    'a:1 b:',
  ],
] as const)('%o has in %s %j', (change, column, text) => {
  expect(cells(change as Partial<ExportedMessage>, column)).toEqual([text])
})
