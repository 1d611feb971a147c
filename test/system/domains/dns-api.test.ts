/** The life of a domain through the API: from registration to verified against Knot and removal, which restores the zone. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { type DnsServer, startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../../support/dns/recursor.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { program } from '../../support/programs/programs.ts'

const FOREIGN = ['@ IN TXT "v=spf1 mx -all"', '@ IN TXT "site-verification=abc"', '@ IN MX 10 mx', 'www IN CNAME @']
const ZONES = [
  { name: 'shop.test', lines: FOREIGN },
  {
    name: 'locked.test',
    lines: ['_dmarc IN CNAME dmarc.vendor.test.', '@ IN TXT "v=spf1 a -all"', '@ IN TXT "v=spf1 mx -all"'],
  },
  { name: 'sender.test', lines: [] },
  { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.sender.test.'] },
]
let server: DnsServer
let recursor: Recursor
let api: PanelApi
let client: ApiClient
let user: UserDoc
const transcript: string[] = []

beforeAll(async () => {
  server = await startDnsServer('knot', ZONES)
  recursor = await startRecursor(ZONES.map(({ name }) => ({ name, port: server.port })))
  api = await startPanelApi({
    MAIL_HOSTNAME: 'mail.sender.test',
    SENDING_IP: '192.0.2.10',
    DNS_SERVERS: recursor.address,
    DNS_PORT: String(server.port),
    DNS_ALLOW_PRIVATE: 'true',
  })
  ;({ user, client } = await api.newUser())
})
afterAll(async () => {
  await api?.stop()
  await recursor?.stop()
  await server?.stop()
  if (process.env.SHOW_TRANSCRIPT) process.stdout.write(`${transcript.join('\n')}\n`)
})

const dig = (name: string, type: string) => {
  const answer = execFileSync(program('kdig'), ['@127.0.0.1', '-p', String(server.port), name, type, '+short'], {
    encoding: 'utf8',
  }).trim()
  transcript.push(`$ kdig ${name} ${type} +short\n${answer || '(nothing)'}`)
  return answer
}
const call = async (method: string, path: string, body?: unknown) => {
  const answer = await client.call(method, `/api/v1${path}`, body)
  transcript.push(`> ${method} /api/v1${path}  -> ${answer.status}`)
  return answer
}
const account = (more: object = {}) => ({
  provider: 'rfc2136',
  credentials: {
    server: `127.0.0.1:${server.port}`,
    zone: 'shop.test',
    key_name: server.key.name,
    key_algorithm: server.key.algorithm,
    key_secret: server.key.secret,
    ...more,
  },
})

describe('one domain by the API alone', () => {
  let before: string[]
  let accountId: string

  test('an account is tested before it is stored, and never returns its credentials', async () => {
    const refused = await call(
      'POST',
      '/dns-accounts',
      account({ key_secret: Buffer.from('wrong').toString('base64') }),
    )
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'validation_failed',
        errors: [{ pointer: '/credentials', message: expect.stringContaining('signature') }],
      },
    })
    const stranger = await call(
      'POST',
      '/dns-accounts',
      account({ key_name: server.strangerKey.name, key_secret: server.strangerKey.secret }),
    )
    expect(stranger.body.errors[0].message).toContain('refuses updates')
    const { zone: _, ...rest } = account().credentials
    const created = await call('POST', '/dns-accounts', { provider: 'rfc2136', name: 'our Knot', credentials: rest })
    expect(created).toMatchObject({ status: 201, body: { name: 'our Knot', tested: { ok: true } } })
    expect(JSON.stringify(created.body)).not.toContain(server.key.secret)
    accountId = created.body.id
    expect((await call('POST', '/dns-accounts', { provider: 'rfc2136', credentials: rest })).status).toBe(409)
    expect((await call('POST', `/dns-accounts/${accountId}/test`)).body.tested.ok).toBe(true)
  })

  test('a new domain lists the records that it needs, none of which exists', async () => {
    before = server.transfer('shop.test')
    const { body } = await call('POST', '/domains', { name: 'Shop.Test' })
    expect(body).toMatchObject({ name: 'shop.test', status: 'pending', check: null, dns: { manage: false } })
    expect(
      body.records.map(({ purpose, need, status }: Record<string, string>) => `${purpose} ${need} ${status}`),
    ).toEqual([
      'ownership required not_started',
      'dkim required not_started',
      'spf required not_started',
      'dmarc required not_started',
      'a recommended not_started',
      'ptr recommended not_started',
      'tls_rpt optional not_started',
      'mta_sts optional not_started',
    ])
    expect((await call('POST', '/domains/shop.test/dns/plan', {})).body.code).toBe('conflict')
    dig('_postwright-challenge.shop.test', 'TXT')
    dig('shop.test', 'TXT')
    dig('_dmarc.shop.test', 'TXT')
    dig('mail.sender.test', 'A')
  })

  test('a plan is returned, applied while it is current, and rejected when the zone has changed', async () => {
    await call('PATCH', '/domains/shop.test', { dns_account_id: accountId })
    const plan = await call('POST', '/domains/shop.test/dns/plan', {})
    transcript.push(
      ...plan.body.items.map(
        (item: Record<string, string>) => `  ${item.action} ${item.type} ${item.name}: ${item.reason}`,
      ),
    )
    expect(plan.body.items.map(({ action }: { action: string }) => action)).toEqual([
      'create',
      'create',
      'update',
      'create',
      'create',
    ])
    expect(plan.body.items[2]).toMatchObject({
      reason: 'Adds ip4:192.0.2.10 to the existing record.',
      reason_code: 'dns_plan.spf_added',
      reason_params: { terms: 'ip4:192.0.2.10' },
    })
    expect(server.transfer('shop.test')).toEqual(before)
    const stale = await call('POST', '/domains/shop.test/dns/apply', { plan_id: 'x'.repeat(32) })
    expect(stale).toMatchObject({ status: 409, body: { detail: expect.stringContaining('zone changed') } })
    const { body } = await call('POST', '/domains/shop.test/dns/apply', { plan_id: plan.body.id })
    expect(body.stopped).toBeNull()
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual(['done', 'done', 'done', 'done', 'done'])
  })

  test('a check verifies the domain and is added to its history', async () => {
    const { body } = await call('POST', '/domains/shop.test/verify')
    expect(body).toMatchObject({ outcome: 'verified', event: 'domain.verified' })
    const domain = (await call('GET', '/domains/shop.test')).body
    expect(domain).toMatchObject({ status: 'verified', verified_by: 'dns', may_send: true, check: { errors: [] } })
    transcript.push(...domain.records.map((record: Record<string, string>) => `  ${record.purpose}: ${record.status}`))
    expect(domain.records.slice(0, 6).every(({ status }: { status: string }) => status === 'verified')).toBe(true)
    expect((await call('GET', '/domains/shop.test/checks')).body.data).toHaveLength(1)
    expect(dig('shop.test', 'TXT')).toContain('"v=spf1 mx ip4:192.0.2.10 -all"')
    expect(dig('_dmarc.shop.test', 'TXT')).toBe('"v=DMARC1; p=none"')
    expect(dig('mail.sender.test', 'A')).toBe('192.0.2.10')
    dig('_postwright-challenge.shop.test', 'TXT')
    dig(domain.records[1].name, 'TXT')
  })

  test('the result of a record that no release requires any more is not returned', async () => {
    const shown = (await call('GET', '/domains/shop.test')).body.records
    const result = {
      row: 'return_path',
      status: 'failed',
      observed: ['x'],
      errors: ['x'],
      warnings: [],
      instructions: [],
    }
    const stored = api.db.collection<{ name: string }>('domains')
    const { modifiedCount } = await stored.updateOne({ name: 'shop.test' }, { $push: { 'check.records': result } })
    expect(modifiedCount).toBe(1)
    const domain = await call('GET', '/domains/shop.test')
    expect(domain).toMatchObject({ status: 200, body: { records: shown } })
  })

  test('the zone file can be downloaded', async () => {
    const response = await fetch(`${api.url}/api/v1/domains/shop.test/zonefile`, {
      headers: { authorization: `Bearer ${await tokenOf(['domains:read'])}` },
    })
    expect(response.headers.get('content-type')).toContain('text/plain')
    const text = await response.text()
    expect(text).toContain('_dmarc.shop.test. 600 IN TXT "v=DMARC1; p=none"')
    expect(text).toMatch(/IN TXT "v=DKIM1; k=rsa; p=[^"]+" "[^"]+"/)
  })

  test('keys are rotated, imported and revoked by name', async () => {
    const rotated = await call('POST', '/domains/shop.test/dkim/rotate', {})
    expect(rotated).toMatchObject({ status: 201, body: { state: 'pending' } })
    const { selector } = rotated.body
    expect((await call('POST', `/domains/shop.test/dkim/${selector}/activate`)).body.code).toBe('conflict')
    expect((await call('POST', '/domains/shop.test/dkim/none/activate')).status).toBe(404)
    await call('POST', '/domains/shop.test/dns/apply', {})
    await call('POST', '/domains/shop.test/verify')
    const activated = await call('POST', `/domains/shop.test/dkim/${selector}/activate`)
    expect(activated.body.data.map(({ state }: { state: string }) => state)).toEqual(['retiring', 'active'])
    const pem = String(
      generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
    )
    const imported = await call('POST', '/domains/shop.test/dkim/rotate', { selector: 'old-key', private_key: pem })
    expect(imported.body).toMatchObject({ selector: 'old-key', state: 'pending' })
    const revoked = await call('POST', '/domains/shop.test/dkim/old-key/revoke')
    expect(revoked.body.data.at(-1)).toMatchObject({ selector: 'old-key', state: 'revoked' })
    expect((await call('POST', '/domains/shop.test/dkim/rotate', { private_key: 'nonsense' })).status).toBe(422)
  })

  test('settings are stored, and managing records requires an account', async () => {
    const changed = await call('PATCH', '/domains/shop.test', {
      dns: { manage: true, dmarc: { policy: 'quarantine', rua: ['dmarc@shop.test'] } },
    })
    expect(changed.body.dns).toMatchObject({ manage: true, address: true, dmarc: { policy: 'quarantine' } })
    await call('POST', '/domains/shop.test/verify')
    expect(dig('_dmarc.shop.test', 'TXT')).toBe('"v=DMARC1; p=quarantine; rua=mailto:dmarc@shop.test"')
    const lowered = await call('PATCH', '/domains/shop.test', { dns: { dmarc: { policy: 'none', rua: [] } } })
    expect(lowered.status).toBe(200)
    const plan = (await call('POST', '/domains/shop.test/dns/plan', {})).body
    expect(plan.items.find(({ record }: { record: string }) => record === 'dmarc')).toMatchObject({
      action: 'conflict',
      code: 'weaker_policy',
      acceptable: true,
    })
    const accepted = (await call('POST', '/domains/shop.test/dns/plan', { accept: ['dmarc'] })).body
    expect(accepted.items.find(({ record }: { record: string }) => record === 'dmarc').action).toBe('update')
    await call('POST', '/domains', { name: 'loose.test' })
    expect((await call('PATCH', '/domains/loose.test', { dns: { manage: true } })).body.errors[0].pointer).toBe(
      '/dns/manage',
    )
  })

  test('removing the domain restores the zone', async () => {
    expect((await call('DELETE', '/domains/shop.test')).status).toBe(204)
    expect(server.transfer('shop.test')).toEqual(before)
    dig('shop.test', 'TXT')
    dig('_postwright-challenge.shop.test', 'TXT')
    expect((await call('GET', '/domains/shop.test')).status).toBe(404)
    expect((await call('DELETE', `/dns-accounts/${accountId}`)).status).toBe(204)
  })
})

describe('conflicting records and servers', () => {
  test('a CNAME and two SPF records are reported as conflicts, and the rest is written', async () => {
    const { zone: _, ...rest } = account().credentials
    const { body } = await call('POST', '/dns-accounts', { provider: 'rfc2136', credentials: rest })
    await call('POST', '/domains', { name: 'locked.test' })
    await call('PATCH', '/domains/locked.test', { dns_account_id: body.id })
    const before = server.transfer('locked.test')
    const { items } = (await call('POST', '/domains/locked.test/dns/apply', {})).body
    const by = Object.fromEntries(items.map((item: { record: string }) => [item.record.split(':')[0], item]))
    expect(by.dmarc).toMatchObject({ status: 'conflict', code: 'cname_in_the_way' })
    expect(by.spf).toMatchObject({ status: 'conflict', code: 'several_records', acceptable: false })
    expect(by.spf.value).toBe('v=spf1 a mx ip4:192.0.2.10 -all')
    expect(by.dkim.status).toBe('done')
    expect(server.transfer('locked.test')).toEqual(expect.arrayContaining(before))
  })

  test('an unreachable server prevents removal unless the records may stay', async () => {
    const { body } = await call('GET', '/dns-accounts')
    const [{ id }] = body.data
    await server.stop()
    const refused = await call('DELETE', '/domains/locked.test')
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringContaining('dns=keep') } })
    expect((await call('POST', `/dns-accounts/${id}/test`)).body.tested).toMatchObject({
      ok: false,
      message: expect.stringContaining('refused'),
    })
    const published = (await call('POST', '/domains/locked.test/dns/apply', {})).body
    expect(published.stopped).toMatchObject({ fault: 'unavailable' })
    expect((await client.call('DELETE', '/api/v1/domains/locked.test?dns=keep')).status).toBe(204)
  })
})

async function tokenOf(scopes: string[]): Promise<string> {
  const { giveToken } = await import('../../support/accounts/accounts-and-domains.ts')
  return (await giveToken(api.db, user._id, { scopes })).value
}
