import { expect, test } from 'vitest'
import { signedHeaders, waitAfter } from './standard-webhooks.ts'

test('eight tries over 27 hours and 35 minutes, then never again', () => {
  const waits = Array.from({ length: 8 }, (_, i) => waitAfter(i + 1))
  expect(waits.at(-1)).toBeUndefined()
  const hours = waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3_600_000
  expect(hours).toBeCloseTo(27.585, 2)
})

test('the signature equals the published example of Standard Webhooks', () => {
  const headers = signedHeaders(
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  )
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
