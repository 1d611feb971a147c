import { expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

test.each(['8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8', '2000::1', '3ffe:ffff::1'])('%s is public', address => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
  ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['::1', '::', 'fe80::1', 'fd00::1', '2001:db8::1', '3fff::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
  ...['::7f00:1', '::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1', 'fec0::1'],
  ...['1fff:ffff::1', '4000::1', '5f00::1', 'fe00::1'],
  ...['0x7f000001', '2130706433', '0177.0.0.1', '127.1', ''],
  'not an address',
])('%s is not public', address => {
  expect(isPublicAddress(address)).toBe(false)
})
