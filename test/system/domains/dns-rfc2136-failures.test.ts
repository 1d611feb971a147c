/** Replies of a broken RFC 2136 server must not be read as "not our zone": records would never be removed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRfc2136 } from '../../../services/mail/dns/providers/rfc2136/rfc2136.ts'
import { type DnsServer, startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { noBudget } from '../../support/dns/no-budget.ts'

describe.each(['knot', 'bind'] as const)('%s', kind => {
  let server: DnsServer
  beforeAll(async () => {
    server = await startDnsServer(kind, [{ name: 'good.test' }, { name: 'broken.test', lines: ['( no " zone file'] }])
  })
  afterAll(() => server?.stop())

  const provider = () =>
    createRfc2136(
      { server: 'test', key_name: server.key.name, key_algorithm: server.key.algorithm, key_secret: server.key.secret },
      {
        budget: noBudget,
        now: () => new Date(),
        counted: () => undefined,
        serverAddress: async () => ({ ip: server.ip, port: server.port }),
        timeoutMs: 30_000,
      },
    )
  const zone = { id: 'broken.test', name: 'broken.test', minTtl: 0, maxTxt: 4_000, nameServers: [], warnings: [] }
  const unavailable = { name: 'DnsProviderError', kind: 'unavailable', code: 'SERVFAIL' }

  test('a zone that it cannot load is an error for every kind of request', async () => {
    const question = { name: '_dmarc.broken.test', types: ['TXT'] as const }
    await expect(provider().read([question])).rejects.toMatchObject(unavailable)
    await expect(provider().findZone('broken.test')).rejects.toMatchObject(unavailable)
    await expect(provider().list(zone, 'broken.test')).rejects.toMatchObject(unavailable)
  })

  test('names that it does not serve are no error, and the good zone works beside the broken one', async () => {
    const states = await provider().read(
      ['_dmarc.good.test', 'elsewhere.example'].map(name => ({ name, types: ['TXT'] as const })),
    )
    expect(states.map(state => state.zone?.name)).toEqual(['good.test', undefined])
  })
})
