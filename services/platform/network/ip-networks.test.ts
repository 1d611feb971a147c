import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../process/config.ts'
import { inNetwork, isAddress, isNetwork } from './ip-networks.ts'

describe('what is written as a network', () => {
  test.each([
    ['10.0.0.0/8', '10.1.2.3', '11.0.0.0'],
    ['192.0.2.7', '192.0.2.7', '192.0.2.8'],
    ['0.0.0.0/0', '203.0.113.9', '::1'],
    ['192.0.2.128/25', '192.0.2.255', '192.0.2.127'],
    ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::1'],
    ['::1', '::1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.8'],
  ])('%s holds %s and not %s', (network, inside, outside) => {
    expect(isNetwork(network)).toBe(true)
    expect([inside, outside].map(address => inNetwork(address, network))).toEqual([true, false])
  })

  test.each([
    ['nothing', ''],
    ['a host name', 'localhost'],
    ['a zero in front, which some read as octal: 8.0.0.0/8', '010.0.0.0/8'],
    ['the same for one address', '010.0.0.1'],
    ['a part of an address, which some read as 0.0.0.10', '10/8'],
    ['two parts', '10.1/16'],
    ['a number', '167772161'],
    ['hexadecimal', '0x0a.0.0.1'],
    ['an octet too large', '256.0.0.0/8'],
    ['too many bits', '10.0.0.0/33'],
    ['too many bits for IPv6', '2001:db8::/129'],
    ['no bits', '10.0.0.0/'],
    ['a mask', '10.0.0.0/255.0.0.0'],
    ['two slashes', '10.0.0.0/8/8'],
    ['a zone of this machine', 'fe80::1%eth0'],
    ['a network of mapped addresses, which no client has', '::ffff:10.0.0.0/104'],
    ['spaces', ' 10.0.0.0/8'],
  ])('%s is none', (_, text) => expect(isNetwork(text)).toBe(false))
})

test.each([
  ['192.0.2.7', true],
  ['2001:db8::7', true],
  ['192.0.2.07', false],
  ['192.0.2', false],
  ['192.0.2.0/24', false],
  ['fe80::1%eth0', false],
])('the address %j: %s', (text, expected) => expect(isAddress(text)).toBe(expected))

describe('settings', () => {
  const env = { MAIL_HOSTNAME: 'mail.example.com', SESSION_SECRET: 'a-secret-for-tests-of-at-least-32-bytes' }
  const errors = (given: Record<string, string>) => {
    try {
      readConfig({ ...env, ...given })
      return []
    } catch (error) {
      return error instanceof ConfigError ? error.errors.map(fieldError => fieldError.split(':')[0]) : [String(error)]
    }
  }

  test.each(['TRUSTED_PROXIES', 'SUBMISSION_PROXY_FROM'])('%s trusts no network that it does not name', name => {
    expect(errors({ [name]: '10.0.0.0/8, 2001:db8::/32' })).toEqual([])
    for (const network of ['010.0.0.0/8', '10/8', '10.0.0.0/8,1']) expect(errors({ [name]: network })).toEqual([name])
  })

  test('SENDING_IP has addresses without a prefix', () => {
    expect(errors({ SENDING_IP: '192.0.2.7, 2001:db8::7' })).toEqual([])
    for (const address of ['192.0.2', '192.0.02.7', '192.0.2.0/24'])
      expect(errors({ SENDING_IP: address })).toEqual(['SENDING_IP'])
  })
})
