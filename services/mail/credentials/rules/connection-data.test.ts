import { expect, test } from 'vitest'
import { publicPorts } from './connection-data.ts'

const listeners = [
  { port: 2525, mode: 'starttls' },
  { port: 2465, mode: 'tls' },
  { port: 465, mode: 'starttls' },
] as const

test.each([
  [['25', '587', '2587'], [], ['starttls', 'starttls', 'starttls']],
  [['465'], [], ['tls']],
  [['2525', '2465'], listeners, ['starttls', 'tls']],
  [['465'], listeners, ['starttls']],
  [['x', '0', '', '-1'], listeners, []],
])('ports %j beside %j', (ports, listening, modes) =>
  expect(publicPorts(ports, listening).map(({ mode }) => mode)).toEqual(modes),
)
