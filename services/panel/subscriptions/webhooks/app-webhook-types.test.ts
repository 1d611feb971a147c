/** Webhooks of an app in the form of the shared components. */
import { expect, test } from 'vitest'
import {
  createWebhookOperation,
  listDeliveriesOperation,
} from '../../../subscriptions/webhooks/http/webhooks-contract.ts'
import { webhookState } from '../../mail/webhooks/webhook-types.ts'
import {
  APP_DELIVERY_STATES,
  APP_EVENT_TYPES,
  type AppWebhook,
  logOf,
  stateName,
  stateOf,
} from './app-webhook-types.ts'

test('the event types are those of the contract', () => {
  const all = { url: 'https://example.com/', events: [...APP_EVENT_TYPES] }
  expect(createWebhookOperation.body.parse(all).events).toEqual(all.events)
  expect(createWebhookOperation.body.shape.events.unwrap().element.options).toEqual(APP_EVENT_TYPES)
})

test('the delivery states are those of the contract, each with a name', () => {
  expect(listDeliveriesOperation.query.shape.state.unwrap().options).toEqual(APP_DELIVERY_STATES)
  expect(APP_DELIVERY_STATES.map(stateName)).toEqual(['waiting', 'delivered', 'failed'])
})

const webhook: AppWebhook = {
  ...{ id: 'wh_1', url: 'https://example.com/', events: [], enabled: '1' },
  ...{ created_at: '2026-11-24 12:00:00', updated_at: '2026-11-24 12:00:00' },
}

test.each<[string, Partial<AppWebhook>, ReturnType<typeof webhookState>]>([
  ['enabled', {}, 'on'],
  ['failing', { failing_since: '2026-11-24 12:00:00' }, 'failing'],
  ['switched off', { enabled: '0' }, 'off'],
  ['disabled by the service', { enabled: '0', disabled_at: '2026-11-24 12:00:00' }, 'disabled'],
])('a webhook that is %s', (_, change, state) => {
  expect(webhookState(stateOf({ ...webhook, ...change }))).toBe(state)
})

test('times of attempts are those of the business time zone', () => {
  const attempt = {
    ...{ at: '2026-11-24 18:00:00', duration_ms: 5, url: 'https://example.com/', request_headers: [] },
    ...{ result: '200', result_code: null, result_params: null, answer: null },
  }
  const { log, request_body } = logOf({ request_body: '{}', log: [attempt] }, 'Asia/Shanghai')
  expect(log[0]).toEqual({ ...attempt, at: '2026-11-24T10:00:00.000Z' })
  expect(request_body).toBe('{}')
})
