/** Two at one domain at once, and ends in the middle: nobody's change is lost, and no record stays behind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DnsDeps, openCredentials, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import type { DnsSession } from '../../../services/mail/dns/dns-session.ts'
import { type Batch, type DnsProvider, DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { publicKeyValue } from '../../../services/mail/dns/records/dkim.ts'
import { closeDomain } from '../../../services/mail/domains/declare-domain.ts'
import { openDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { testDnsAccount } from '../../../services/mail/domains/dns-accounts/manage-dns-accounts.ts'
import {
  deleteDnsAccount,
  findDnsAccount,
  insertDnsAccount,
  updateDnsAccount,
} from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { checkDueDomains } from '../../../services/mail/domains/dns-check-job.ts'
import { planDomainDns, publishDns } from '../../../services/mail/domains/publish-records.ts'
import {
  changeDomain,
  registerDomain,
  removeDomain,
  verifyByAdmin,
} from '../../../services/mail/domains/register-domain.ts'
import { removeDomainAndRecords } from '../../../services/mail/domains/remove-domain.ts'
import { findDomainById, updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { unpublishDns } from '../../../services/mail/domains/unpublish-records.ts'
import { verifyDomain } from '../../../services/mail/domains/verify-domain.ts'
import type { DomainDoc } from '../../../services/mail/store/documents.ts'
import type { Db } from '../../../services/platform/database/mongo.ts'
import { type DnsTestEnvironment, startDnsTestEnvironment } from '../../support/dns/dns-test-environment.ts'

const NAMES = [
  'admin',
  'close',
  'patch',
  'memory',
  'locked',
  'late',
  'gone',
  'flight',
  'moved',
  'cut',
  'lost',
  'plan',
  'stuck',
  'twice',
  'sealed',
  'expired',
]
let world: DnsTestEnvironment
beforeAll(async () => {
  world = await startDnsTestEnvironment(
    NAMES.map(name => ({ name: `${name}.test`, lines: ['@ IN TXT "v=spf1 mx -all"', '@ IN MX 10 mx'] })),
  )
})
afterAll(() => world?.stop())

async function bound(name: string, change: Partial<DomainDoc> = {}): Promise<DomainDoc> {
  const account = await world.account(`usr_${name}`)
  return world.claim(`usr_${name}`, `${name}.test`, { dns_account_id: account._id, ...change })
}

/** The DNS parts with something done once, at a moment of the program. */
function once(moment: 'look' | 'read' | 'before write' | 'after write', act: () => Promise<unknown>): DnsDeps {
  let done = false
  const now = async (at: typeof moment) => {
    if (at !== moment || done) return
    done = true
    await act()
  }
  const watched = (session: DnsSession): DnsSession => ({
    ...session,
    async views(name, type) {
      const views = await session.views(name, type)
      await now('look')
      return views
    },
  })
  const watchedBatch = (batch: Batch): Batch => ({
    guarded: batch.guarded,
    async write(...change) {
      await now('before write')
      const made = await batch.write(...change)
      await now('after write')
      return made
    },
  })
  const wrapped = (provider: DnsProvider): DnsProvider => ({
    ...provider,
    async read(questions) {
      const states = await provider.read(questions)
      await now('read')
      return states
    },
    ...(provider.batch ? { batch: watchedBatch(provider.batch) } : {}),
  })
  return {
    ...world.deps,
    resolver: { session: () => watched(world.deps.resolver.session()) },
    provider: (account, credentials) => wrapped(world.deps.provider(account, credentials)),
  }
}

/** The DNS parts with a provider that takes one record at a time and does some of it otherwise. */
function withProvider(change: (provider: DnsProvider) => Partial<DnsProvider>): DnsDeps {
  return {
    ...world.deps,
    provider: (account, credentials) => {
      const { batch: _, ...provider } = world.deps.provider(account, credentials)
      return { ...provider, ...change(provider) }
    },
  }
}

/** A database in which one method of one collection fails. */
function failing(collection: string, method: string): Db {
  const spoiled = (target: object, property: string, value: unknown) =>
    new Proxy(target, {
      get: (of, name) => {
        const found: unknown = name === property ? value : Reflect.get(of, name)
        return typeof found === 'function' ? found.bind(of) : found
      },
    })
  const open = (name: string) => {
    const real = world.deps.db.collection(name)
    return name === collection ? spoiled(real, method, () => Promise.reject(new Error('the process ended'))) : real
  }
  return spoiled(world.deps.db, 'collection', open) as Db
}

describe('a status that changes while DNS is looked at stays', () => {
  test('an admin verifies it', async () => {
    const domain = await world.claim('usr_admin', 'admin.test')
    const deps = once('look', () => verifyByAdmin(world.deps, domain._id))
    await expect(verifyDomain(deps, domain._id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await world.domain(domain._id)).toMatchObject({ status: 'verified', verified_by: 'admin' })
    await verifyDomain(world.deps, domain._id)
    expect(await world.domain(domain._id)).toMatchObject({ status: 'verified', verified_by: 'admin' })
  })

  test('an admin verifies it long after its claim expired, and its records are kept from then on', async () => {
    const domain = await bound('expired', { dns: { manage: true } })
    await updateDomain(world.deps.db, domain._id, { status: 'failed' }, ['next_check_at'])
    await verifyByAdmin(world.deps, domain._id)
    const run = { signal: new AbortController().signal, touch: async () => undefined }
    expect(await checkDueDomains(world.deps, run)).toBe(1)
    expect(world.server.transfer('expired.test').join()).toContain(domain.verification_token)
    expect((await world.domain(domain._id)).next_check_at).toBeInstanceOf(Date)
  })

  test('its resource closes it', async () => {
    const resource = { kind: 'MailDomain', namespace: 'n', name: 'm', uid: 'u1' }
    const domain = await bound('close', { managed_by: resource })
    await publishDns(world.deps, domain)
    await verifyDomain(world.deps, domain._id)
    const deps = once('look', () => closeDomain({ ...world.deps, resource }, domain._id))
    await expect(verifyDomain(deps, domain._id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await world.domain(domain._id)).toMatchObject({ status: 'suspended', suspended_by: 'resource' })
  })
})

test('accounts that claim a name in the same moment get selectors of their own', async () => {
  const users = ['usr_at_once_1', 'usr_at_once_2', 'usr_at_once_3']
  const made = await Promise.all(users.map(user => registerDomain(world.deps, user, 'at-once.test')))
  const stored = await Promise.all(made.map(({ _id }) => world.domain(_id)))
  expect(new Set(stored.flatMap(({ dkim }) => dkim.map(({ selector }) => selector))).size).toBe(3)
  expect(made.map(({ dkim }) => dkim)).toEqual(stored.map(({ dkim }) => dkim))
  expect(stored.map(({ dkim }) => dkim.map(({ state }) => state))).toEqual(Array(3).fill(['active']))
  for (const { _id, dkim } of stored)
    for (const key of dkim) expect(publicKeyValue(openDkimKey(world.deps.secrets, { _id }, key))).toBe(key.public_key)
})

describe('settings', () => {
  test('two changes at once both hold', async () => {
    const domain = await bound('patch', { dns: { manage: true, spf: ['include:old.example'] } })
    await Promise.all([
      changeDomain(world.deps, domain.user_id, domain._id, { dns: { address: false } }),
      changeDomain(world.deps, domain.user_id, domain._id, { dns: { spf: ['include:new.example'] } }),
      changeDomain(world.deps, domain.user_id, domain._id, { dns: { dkim_rotation_days: 90 } }),
    ])
    expect((await world.domain(domain._id)).dns).toEqual({
      manage: true,
      address: false,
      spf: ['include:new.example'],
      dkim_rotation_days: 90,
    })
  })

  test('a change while a record is repaired holds, and the repair is remembered', async () => {
    const domain = await bound('memory', { dns: { manage: true } })
    await publishDns(world.deps, domain)
    await verifyDomain(world.deps, domain._id)
    await unpublishDns(world.deps, await world.domain(domain._id))
    const deps = once('before write', () =>
      changeDomain(world.deps, domain.user_id, domain._id, { dns: { manage: false, spf: ['include:new.example'] } }),
    )
    expect((await verifyDomain(deps, domain._id)).event).toBe('domain.failing')
    expect((await world.domain(domain._id)).dns).toEqual({
      manage: false,
      spf: ['include:new.example'],
      repairs: [expect.any(Date)],
    })
  })
})

describe('a domain that leaves', () => {
  test.each(['locked', 'invalid'] as const)('stays when the provider keeps a record: %s', async kind => {
    const known = await world.domain((await bound(kind === 'locked' ? 'locked' : 'cut'))._id)
    await publishDns(world.deps, known)
    const refusing = withProvider(provider => ({
      remove: (zone, record) =>
        record.name.includes('_domainkey')
          ? Promise.reject(new DnsProviderError('rfc2136', kind, 'Not this one.'))
          : provider.remove(zone, record),
    }))
    await expect(removeDomainAndRecords(refusing, known.user_id, known._id, 'remove')).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/_domainkey.*Not this one.*dns=keep/),
    })
    expect(await world.domain(known._id)).toMatchObject({ dns_owned: [{ row: expect.stringContaining('dkim') }] })
    await removeDomainAndRecords(world.deps, known.user_id, known._id, 'remove')
    expect(await findDomainById(world.deps.db, known._id)).toBeUndefined()
  })

  test('lets nobody write meanwhile', async () => {
    const before = world.server.transfer('late.test')
    const domain = await bound('late', { dns: { manage: true } })
    await publishDns(world.deps, domain)
    const deps = once('after write', async () => {
      const again = publishDns(world.deps, await world.domain(domain._id))
      await expect(again).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('about to go') })
    })
    await removeDomainAndRecords(deps, domain.user_id, domain._id, 'remove')
    expect(world.server.transfer('late.test')).toEqual(before)
    expect(await findDomainById(world.deps.db, domain._id)).toBeUndefined()
  })

  test.each([
    ['gone', 'read'],
    ['flight', 'before write'],
    ['lost', 'after write'],
  ] as const)('%s: a write that was under way leaves nothing (%s)', async (name, moment) => {
    const before = world.server.transfer(`${name}.test`)
    const domain = await bound(name)
    const deps = once(moment, () => removeDomainAndRecords(world.deps, domain.user_id, domain._id, 'remove'))
    await expect(publishDns(deps, domain)).rejects.toMatchObject({ code: 'not_found' })
    expect(world.server.transfer(`${name}.test`)).toEqual(before)
  })

  test('whose records cannot be taken back after a write that was under way says which', async () => {
    const domain = await bound('stuck')
    const refusing = withProvider(provider => ({
      async create(zone, record, note) {
        const made = await provider.create(zone, record, note)
        await removeDomain(world.deps, domain.user_id, domain._id).catch(() => undefined)
        return made
      },
      remove: () => Promise.reject(new DnsProviderError('rfc2136', 'locked', 'Not this one.')),
    }))
    await expect(publishDns(refusing, domain)).rejects.toMatchObject({ code: 'not_found' })
    expect(world.logged.filter(line => line.includes('could not be taken back'))).toEqual([
      expect.stringMatching(/_postwright-challenge\.stuck\.test.*TXT.*failed.*Not this one/),
    ])
  })

  test('asks an account once that stands in for two that are gone', async () => {
    const before = world.server.transfer('twice.test')
    const domain = await bound('twice')
    await publishDns(world.deps, domain)
    const { dns_owned = [] } = await world.domain(domain._id)
    await updateDomain(world.deps.db, domain._id, {
      dns_owned: dns_owned.map((entry, index) => ({ ...entry, account_id: `dns_gone_${index % 2}` })),
    })
    const asked: string[] = []
    const counting: DnsDeps = {
      ...world.deps,
      provider: (account, credentials) => {
        asked.push(account)
        return world.deps.provider(account, credentials)
      },
    }
    await unpublishDns(counting, await world.domain(domain._id))
    expect(asked).toEqual([domain.dns_account_id])
    expect(world.server.transfer('twice.test')).toEqual(before)
  })

  test('takes its records from the account that they were written through', async () => {
    const before = world.server.transfer('moved.test')
    const domain = await bound('moved')
    await publishDns(world.deps, domain)
    const account = await findDnsAccount(world.deps.db, domain.user_id, domain.dns_account_id ?? '')
    if (!account) throw new Error('no account')
    const other = await world.account('usr_other', { zone: 'plan.test' })
    const second = { ...other, _id: 'dns_second', user_id: domain.user_id, by_hand: false }
    second.sealed = sealCredentials(world.deps.secrets, second._id, openCredentials(world.deps.secrets, other))
    await insertDnsAccount(world.deps.db, second)
    await changeDomain(world.deps, domain.user_id, domain._id, { dns_account_id: second._id })
    await publishDns(world.deps, await world.domain(domain._id))
    await removeDomainAndRecords(world.deps, domain.user_id, domain._id, 'remove')
    expect(world.server.transfer('moved.test')).toEqual(before)
  })
})

describe('an account that is forgotten', () => {
  test('leaves no domain that refers to it, wherever the process ends', async () => {
    const account = await world.account('usr_forget')
    const domain = await world.claim('usr_forget', 'x.plan.test', {
      dns_account_id: account._id,
      dns: { manage: true },
    })
    for (const [collection, method] of [
      ['domains', 'updateMany'],
      ['dns_accounts', 'deleteOne'],
    ] as const) {
      await expect(deleteDnsAccount(failing(collection, method), 'usr_forget', account._id)).rejects.toThrow('ended')
      expect(await findDnsAccount(world.deps.db, 'usr_forget', account._id)).toBeDefined()
    }
    expect(await deleteDnsAccount(world.deps.db, 'usr_forget', account._id)).toBe(true)
    const after = await world.domain(domain._id)
    expect([after.dns_account_id, after.dns]).toEqual([undefined, { manage: false }])
    expect(await deleteDnsAccount(world.deps.db, 'usr_stranger', account._id)).toBe(false)
  })

  test.each([
    ['an account that is not there', async () => ({ dns_account_id: 'dns_nowhere' }), /choose one/],
    [
      'credentials that cannot be opened',
      async () => {
        const account = await world.account('usr_spoiled')
        const spoiled = { ...account, _id: 'dns_spoiled', user_id: 'usr_dangling', by_hand: false, sealed: 'v1.x.y' }
        await insertDnsAccount(world.deps.db, spoiled)
        return { dns_account_id: spoiled._id }
      },
      /cannot be opened/,
    ],
    [
      'credentials of a kind that is not taken any more',
      async () => {
        const account = await world.account('usr_older')
        const credentials = {
          provider: 'rfc2136',
          credentials: { server: 'ns.test:99999', key_name: 'k', key_secret: '' },
        }
        const sealed = world.deps.secrets.seal('dns-credential', 'dns-accounts/dns_older', JSON.stringify(credentials))
        const older = { ...account, _id: 'dns_older', user_id: 'usr_dangling', by_hand: false, sealed }
        await insertDnsAccount(world.deps.db, older)
        return { dns_account_id: older._id }
      },
      /opened; store them/,
    ],
  ])('a check with %s ends and says so', async (_, change, message) => {
    const domain = await world.claim('usr_dangling', `y${message.source.length}.plan.test`, { dns: { manage: true } })
    await updateDomain(world.deps.db, domain._id, await change())
    const check = await verifyDomain(world.deps, domain._id)
    expect(check.errors).toEqual([expect.stringMatching(message)])
  })
})

test('credentials that cannot be opened are said to whoever plans, writes, tries them or leaves, and the domain stays', async () => {
  const domain = await bound('sealed')
  await publishDns(world.deps, domain)
  await updateDnsAccount(world.deps.db, 'dns_usr_sealed', { sealed: 'v1.x.y' })
  const said = { code: 'conflict', detail: expect.stringMatching(/cannot be opened; store them again/) }
  await expect(planDomainDns(world.deps, domain)).rejects.toMatchObject(said)
  expect((await publishDns(world.deps, domain)).stopped).toMatchObject({ kind: 'auth', message: said.detail })
  expect((await testDnsAccount(world.deps, domain.user_id, 'dns_usr_sealed')).tested).toMatchObject({
    ok: false,
    message: said.detail,
  })
  const kept = { ...said, detail: expect.stringMatching(/store them again\. .* dns=keep/) }
  await expect(removeDomainAndRecords(world.deps, domain.user_id, domain._id, 'remove')).rejects.toMatchObject(kept)
  const after = await world.domain(domain._id)
  expect(after.leaving_until).toBeUndefined()
  expect(after.dns_owned).toHaveLength(4)
  await removeDomainAndRecords(world.deps, domain.user_id, domain._id, 'keep')
  expect(await findDomainById(world.deps.db, domain._id)).toBeUndefined()
})

test('a plan is applied only as it was seen, also when somebody is faster than the first write', async () => {
  const domain = await bound('plan')
  const { id } = await planDomainDns(world.deps, domain)
  const rival = await world.claim('usr_rival', 'plan.test', { dns_account_id: (await world.account('usr_rival'))._id })
  const deps = once('before write', () => publishDns(world.deps, rival))
  await expect(publishDns(deps, domain, { expect: id })).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining('zone changed'),
  })
  expect(world.server.transfer('plan.test').join()).not.toContain(domain.verification_token)
  const fresh = await planDomainDns(world.deps, await world.domain(domain._id))
  const { stopped } = await publishDns(world.deps, await world.domain(domain._id), { expect: fresh.id })
  expect(stopped).toBeUndefined()
})

test('a database that refuses every claim ends the run instead of being asked for ever', async () => {
  const deps = { ...world.deps, db: failing('domains', 'findOneAndUpdate') }
  const run = { signal: new AbortController().signal, touch: async () => undefined }
  await expect(checkDueDomains(deps, run)).rejects.toThrow('ended')
})
