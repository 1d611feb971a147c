import { expect, test } from 'vitest'
import { createMailWebhookOperation } from '../../../mail/webhooks/http/webhooks-contract.ts'
import { EVENT_TYPES, webhookState } from './webhook-types.ts'

test('the types of events are those of the contract', () => {
  const body = (events: readonly string[]) =>
    createMailWebhookOperation.body.safeParse({ url: 'https://a.example', events })
  expect(body(EVENT_TYPES).data?.events).toEqual(EVENT_TYPES)
  expect(body([...EVENT_TYPES, EVENT_TYPES[0] ?? '']).success).toBe(false)
})

const disabled = { at: '', reason: '', reason_code: '', reason_params: {} }

test.each([
  [true, null, null, 'on'],
  [true, null, '2026-11-23T00:00:00Z', 'failing'],
  [false, null, null, 'off'],
  [false, disabled, null, 'disabled'],
])('enabled %s, disabled %j, failing since %s: %s', (enabled, by, failing_since, expected) => {
  expect(webhookState({ enabled, disabled: by, failing_since })).toBe(expected)
})
