import { expect, test } from 'vitest'
import { checkAlipay } from './alipay.ts'

test.each([
  ['200 fields', 200, 'sign_type is not RSA2'],
  ['201 fields', 201, 'too many fields'],
  ['100,000 fields', 100_000, 'too many fields'],
])('a notice of %s is refused', (_, count, reason) => {
  const body = Array.from({ length: count }, (_none, n) => `f${n}=1`).join('&')
  const settings = { app_id: 'a', seller_id: 's', alipay_public_key: '' }
  expect(() => checkAlipay(settings, body)).toThrow(reason)
})
