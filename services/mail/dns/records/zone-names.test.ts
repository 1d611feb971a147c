/** Names relative to the zone that holds them. */
import { expect, test } from 'vitest'
import { hostInZone, zoneHolding } from './zone-names.ts'

test.each([
  // Known zones decide, the longest one first.
  ['mail.example.com', ['example.com'], 'example.com', 'mail'],
  ['_dmarc.mail.example.com', ['example.com'], 'example.com', '_dmarc.mail'],
  ['mail.example.com', ['example.com', 'mail.example.com'], 'mail.example.com', '@'],
  ['_dmarc.mail.example.com', ['mail.example.com', 'example.com'], 'mail.example.com', '_dmarc'],
  ['example.com', ['example.com'], 'example.com', '@'],
  // A zone of another name says nothing.
  ['mail.example.com', ['example.net', 'ample.com'], 'example.com', 'mail'],
  // Without one: the registrable domain.
  ['_dmarc.example.com', [], 'example.com', '_dmarc'],
  ['_dmarc.mail.shop.co.uk', [], 'shop.co.uk', '_dmarc.mail'],
  ['pw1._domainkey.news.shop.eu.org', [], 'shop.eu.org', 'pw1._domainkey.news'],
  ['_dmarc.mail.office.internal', [], 'office.internal', '_dmarc.mail'],
  // The list does not know whose zone this is: DNS does.
  ['mail.office.internal', ['internal'], 'internal', 'mail.office'],
  // The answer for a name that is not registered yet comes from the registry.
  ['_dmarc.mail.example.com', ['com'], 'example.com', '_dmarc.mail'],
  ['shop.eu.org', ['eu.org'], 'shop.eu.org', '@'],
  ['localhost', [], 'localhost', '@'],
])('%s with the zones %j is in %s as %s', (name, known, zone, host) => {
  expect(zoneHolding(name, known)).toBe(zone)
  expect(hostInZone(name, zone)).toBe(host)
})

test('a name outside of the zone stays complete', () => {
  expect(hostInZone('mail.example.net', 'example.com')).toBe('mail.example.net')
})
