import { expect, test } from 'vitest'
import { createClients } from './open-connections.ts'

test('one address gets its share, all together the limit', () => {
  const clients = createClients(3, 2)
  const a = clients.enter('a')
  expect(clients.enter('a')).toBeDefined()
  expect(clients.enter('a')).toBeUndefined()
  expect(clients.enter('b')).toBeDefined()
  expect(clients.enter('c')).toBeUndefined()
  a?.()
  expect(clients.enter('c')).toBeDefined()
  expect(clients.open).toBe(3)
})

test('leaving twice counts once', () => {
  const clients = createClients(2, 2)
  const leave = clients.enter('a')
  clients.enter('a')
  leave?.()
  leave?.()
  expect(clients.open).toBe(1)
  expect(clients.enter('a')).toBeDefined()
  expect(clients.enter('a')).toBeUndefined()
})

test.each([
  ['addresses of one /64', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
  ['two forms of an IPv4 address', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2'],
])('%s are one client', (_, one, same, another) => {
  const clients = createClients(9, 1)
  const leave = clients.enter(one)
  expect(clients.enter(same)).toBeUndefined()
  expect(clients.enter(another)).toBeDefined()
  leave?.()
  expect(clients.enter(same)).toBeDefined()
})
