import { expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

test.each(['8.8.8.8', '2606:4700::1111'])('%s is public', ip => expect(isPublicAddress(ip)).toBe(true))
test.each([
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '192.0.2.1',
  '198.18.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '::1',
  'fe80::1',
  'fd00::1',
  '2001:db8::1',
  '::ffff:127.0.0.1',
  'localhost',
])('%s is not', ip => expect(isPublicAddress(ip)).toBe(false))
