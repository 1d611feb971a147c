/** The schemas of the settings accept what a process accepts, and refuse the mistakes that a schema can see. */
import { expect, test } from 'vitest'
import { describeSettings } from './config.ts'
import { type JsonSchema, settingSchemas } from './setting-schemas.ts'

const schemas = settingSchemas()

/** The part of JSON Schema that these schemas use. */
function fits(schema: JsonSchema, value: unknown): boolean {
  const { anyOf, allOf, enum: options, type, pattern, minimum, maximum } = schema
  if (Array.isArray(anyOf) && !anyOf.some(part => fits(part as JsonSchema, value))) return false
  if (Array.isArray(allOf) && !allOf.every(part => fits(part as JsonSchema, value))) return false
  if (Array.isArray(options) && !options.includes(value)) return false
  const types = type === undefined ? [] : [type].flat()
  if (types.length > 0 && !types.some(name => isOf(String(name), value))) return false
  if (typeof pattern === 'string' && !new RegExp(pattern).test(String(value))) return false
  if (typeof value === 'number' && typeof minimum === 'number' && value < minimum) return false
  return !(typeof value === 'number' && typeof maximum === 'number' && value > maximum)
}

function isOf(type: string, value: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

test('every setting has a schema, and its default fits', () => {
  const described = describeSettings()
  expect(Object.keys(schemas)).toEqual(described.map(({ name }) => name))
  for (const { name, default: value } of described)
    if (value !== undefined) expect([name, fits(schemas[name] ?? {}, value)]).toEqual([name, true])
})

test.each<[string, unknown, boolean]>([
  ['DELIVERY_MODE', 'capture', true],
  ['DELIVERY_MODE', 'caputre', false],
  ['DELIVERY_MODE', '', true],
  ['SEND_REQUIRES_VERIFIED', false, true],
  ['SEND_REQUIRES_VERIFIED', 'false', true],
  ['SEND_REQUIRES_VERIFIED', 'no', false],
  ['SLOTS', 64, true],
  ['SLOTS', '64', true],
  ['SLOTS', 0, false],
  ['SLOTS', 4097, false],
  ['SLOTS', 'many', false],
  ['SEND_REQUESTS_PER_SECOND', 0.5, true],
  ['RELAY_URL', 'smtp://user:pass@relay.example.com:587', true],
  ['RELAY_URL', 'https://relay.example.com', false],
  ['CLOUDFLARE_API_URL', 'ftp://x', false],
  ['SUCCESS_CODE', 200, true],
  ['SUCCESS_CODE', 201, false],
  ['WEBHOOK_ALLOW_PRIVATE', 'loopback', true],
  ['WEBHOOK_ALLOW_PRIVATE', 'lopback', false],
  ['SUBMISSION_PORTS', 587, true],
  ['DNS_SERVERS', '192.0.2.53,192.0.2.54:5353', true],
  ['TRUSTED_PROXIES', 'private, 10.0.0.0/8', true],
  ['TRUSTED_PROXIES', 'privat', false],
  ['SENDING_IP', '192.0.2.1 2001:db8::1', true],
  ['SENDING_IP', 'mail.example.com', false],
  ['SUBMISSION_PROXY_FROM', '10.0.0.0/8', true],
  ['BUSINESS_TZ', 'Europe/Berlin', true],
  ['BUSINESS_TZ', 'Berlin time', false],
  ['LOG_LEVEL', 'verbose', false],
])('%s=%j: %s', (name, value, expected) => {
  expect(fits(schemas[name] ?? {}, value)).toBe(expected)
})
