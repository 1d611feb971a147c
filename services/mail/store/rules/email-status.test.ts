import { expect, test } from 'vitest'
import { isFinal, messageStatus, RECIPIENT_STATUSES, type RecipientStatus } from './email-status.ts'

test.each<[RecipientStatus[], RecipientStatus]>([
  [[], 'queued'],
  [['delivered'], 'delivered'],
  [['delivered', 'queued'], 'queued'],
  [['delivered', 'deferred', 'queued'], 'deferred'],
  [['delivered', 'bounced'], 'bounced'],
  [['canceled', 'delivered'], 'canceled'],
  [['scheduled', 'failed'], 'scheduled'],
  [['queued', 'deferred'], 'deferred'],
])('recipients %j make the message %s', (statuses, status) => {
  expect(messageStatus(statuses.map(each => ({ status: each })))).toBe(status)
})

test('a message is final exactly when every recipient is', () => {
  for (const first of RECIPIENT_STATUSES)
    for (const second of RECIPIENT_STATUSES)
      expect(isFinal(messageStatus([{ status: first }, { status: second }]))).toBe(isFinal(first) && isFinal(second))
})
