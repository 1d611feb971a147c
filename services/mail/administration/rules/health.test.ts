import { expect, test } from 'vitest'
import { evaluateHealth, type Observed, overall } from './health.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const fine: Observed = {
  mongoUp: true,
  workers: 2,
  oldestDue: null,
  hostname: 'mail.example.com',
  sendingIps: ['192.0.2.1'],
  mode: 'direct',
  trustedProxies: ['10.0.0.0/8'],
  untrustedProxy: undefined,
  clockSkewMs: 0,
  now: NOW,
}
const waiting = (seconds: number) => ({ oldestDue: new Date(NOW.getTime() - seconds * 1000) })

test.each<[string, Partial<Observed>, string, string[]]>([
  ['everything as it should be', {}, 'ok', []],
  ['mail that is due in future', waiting(-3600), 'ok', []],
  ['mail that waits a moment', waiting(299), 'ok', []],
  ['late mail', waiting(300), 'warning', ['queue warning']],
  ['very late mail', waiting(1800), 'failing', ['queue failing']],
  ['no worker', { workers: 0 }, 'failing', ['workers failing']],
  ['a clock that is a moment off', { clockSkewMs: -2_000 }, 'ok', []],
  ['a clock that is ahead', { clockSkewMs: 2_001 }, 'warning', ['clock warning']],
  ['a clock that is an hour behind', { clockSkewMs: -3_600_000 }, 'warning', ['clock warning']],
  ['no database', { mongoUp: false }, 'failing', ['database failing']],
  ['a name of the local network', { hostname: 'localhost.localdomain' }, 'warning', ['hostname warning']],
  ['a name without a dot', { hostname: 'mail' }, 'warning', ['hostname warning']],
  ['no address', { sendingIps: [] }, 'warning', ['sending_ip warning']],
  ['neither name nor address in capture mode', { hostname: 'localhost', sendingIps: [], mode: 'capture' }, 'ok', []],
  ['no proxy at all', { trustedProxies: [] }, 'ok', []],
  ['a proxy that is not trusted', { untrustedProxy: '10.1.2.3' }, 'warning', ['proxies warning']],
])('%s', (_, change, status, notOk) => {
  const checks = evaluateHealth({ ...fine, ...change })
  expect(overall(checks)).toBe(status)
  expect(checks.filter(check => check.status !== 'ok').map(check => `${check.name} ${check.status}`)).toEqual(notOk)
  expect(checks.map(({ name }) => name)).toEqual([
    'database',
    'clock',
    'workers',
    'queue',
    'hostname',
    'sending_ip',
    'proxies',
  ])
})
