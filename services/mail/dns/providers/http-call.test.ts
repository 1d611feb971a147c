/** The cloud adapters against a gateway that answers wrongly: each answer becomes an error that callers can act on. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAliyun } from './aliyun/aliyun.ts'
import { createCloudflare } from './cloudflare/cloudflare.ts'
import { createDnspod } from './dnspod/dnspod.ts'
import type { CloudContext } from './http-call.ts'
import type { DnsProvider, Zone } from './provider.ts'

const zone: Zone = { id: '7', name: 'zone.test', minTtl: 600, maxTxt: 500, nameServers: [], warnings: [] }
const txt = { name: 'zone.test', type: 'TXT' as const, value: 'v=spf1 -all', ttl: 600 }
const stored = { ...txt, id: '5' }
const MAKE: Readonly<Record<string, (context: CloudContext) => DnsProvider>> = {
  cloudflare: context => createCloudflare({ api_token: 'secret-token' }, context),
  aliyun: context => createAliyun({ access_key_id: 'secret-id', access_key_secret: 'secret-key' }, context),
  dnspod: context => createDnspod({ secret_id: 'secret-id', secret_key: 'secret-key' }, context),
}
const VENDORS = Object.keys(MAKE)

/** A provider behind a server that gives one answer to everything. */
async function behind(vendor: string, status: number, body: string, headers: Record<string, string> = {}) {
  const server = createServer((_, response) => void response.writeHead(status, headers).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const blocked: number[] = []
  const context: CloudContext = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    budget: { take: async () => undefined, block: async seconds => void blocked.push(seconds) },
    now: () => new Date('2026-11-20T12:00:00Z'),
    counted: () => undefined,
  }
  return { provider: MAKE[vendor]?.(context) ?? expect.fail(vendor), blocked }
}

describe.each(VENDORS)('%s', vendor => {
  test.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '17' }, 17],
    ['a date', { 'retry-after': 'Fri, 20 Nov 2026 12:01:30 GMT' }, 90],
    ['a date that is over', { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 1],
    ['no word', {}, 60],
    ['prose', { 'retry-after': 'soon' }, 60],
    ['nothing', { 'retry-after': '' }, 60],
    ['a negative number', { 'retry-after': '-5' }, 60],
    ['a year', { 'retry-after': '31536000' }, 3600],
  ])('a gateway that asks for silence is obeyed, whatever it speaks: %s', async (_, headers, seconds) => {
    for (const work of ['list', 'create'] as const) {
      const { provider, blocked } = await behind(vendor, 429, '<h1>error code: 1015</h1>', headers)
      const call = work === 'list' ? provider.list(zone, 'zone.test') : provider.create(zone, txt, '')
      await expect(call).rejects.toMatchObject({ kind: 'rate_limited', retryAfter: seconds })
      expect(blocked).toEqual([seconds])
    }
  })

  test.each([
    ['an empty object', '{}'],
    ['a result of another kind', '{"success":true,"result":"yes","Response":"yes","Domains":3,"RecordId":{}}'],
    ['a list of strangers', '{"success":true,"result":[{"x":1}],"Response":{"RecordList":[1]},"DomainRecords":[]}'],
    ['null', 'null'],
    ['a text', '"ok"'],
  ])('an answer in a form that nobody knows: %s', async (_, body) => {
    const { provider } = await behind(vendor, 200, body)
    const known = { name: 'DnsProviderError', message: expect.not.stringMatching(/secret-/) }
    for (const read of [
      () => provider.test(),
      () => provider.findZone('zone.test'),
      () => provider.list(zone, 'zone.test'),
    ]) {
      const answer = await read().catch((error: unknown) => error)
      // An empty object is an empty list for some; anything else is no answer.
      if (body !== '{}' || answer instanceof Error) expect(answer).toMatchObject({ ...known, kind: 'unavailable' })
    }
    await expect(provider.create(zone, txt, '')).rejects.toMatchObject({ ...known, kind: 'unknown_outcome' })
    const update = await provider.update(zone, stored, txt).catch((error: unknown) => error)
    if (update instanceof Error) expect(update).toMatchObject({ ...known, kind: 'unknown_outcome' })
  })
})
