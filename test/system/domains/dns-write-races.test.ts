/** Parallel writers at one domain, and processes that stop half way: no change is lost, and no record is left over. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DnsDeps, openCredentials, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import type { DnsSession } from '../../../services/mail/dns/dns-session.ts'
import { type Batch, type DnsProvider, DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { publicKeyValue } from '../../../services/mail/dns/records/dkim.ts'
import { checkDueDomains } from '../../../services/mail/domains/checks/dns-check-job.ts'
import { verifyDomain } from '../../../services/mail/domains/checks/verify-domain.ts'
import { closeDomain } from '../../../services/mail/domains/declare-domain.ts'
import { openDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { testDnsAccount } from '../../../services/mail/domains/dns-accounts/manage-dns-accounts.ts'
import {
  deleteDnsAccount,
  dnsAccounts,
  findDnsAccount,
  insertDnsAccount,
  updateDnsAccount,
} from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { planDomainDns, publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { unpublishDns } from '../../../services/mail/domains/publishing/unpublish-records.ts'
import {
  changeDomain,
  registerDomain,
  removeDomain,
  verifyByAdmin,
} from '../../../services/mail/domains/register-domain.ts'
import { removeDomainAndRecords } from '../../../services/mail/domains/remove-domain.ts'
import { type DomainDoc, domains } from '../../../services/mail/domains/store/domain-model.ts'
import { findDomainById, updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { inEnglish } from '../../../services/platform/sentences/sentence.ts'
import { failCommands } from '../../support/database/fail-commands.ts'
import { startTestMongod, type TestMongod } from '../../support/database/test-mongod.ts'
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
let mongod: TestMongod
let environment: DnsTestEnvironment
beforeAll(async () => {
  mongod = await startTestMongod({ enableTestCommands: '1' })
  environment = await startDnsTestEnvironment(
    NAMES.map(name => ({ name: `${name}.test`, lines: ['@ IN TXT "v=spf1 mx -all"', '@ IN MX 10 mx'] })),
    () => connectMongo(mongod.uri, silentLog, { dbName: 'races' }),
  )
})
afterAll(async () => {
  await environment?.stop()
  await mongod?.stop()
})

async function bound(name: string, change: Partial<DomainDoc> = {}): Promise<DomainDoc> {
  const account = await environment.account(`usr_${name}`)
  return environment.claim(`usr_${name}`, `${name}.test`, { dns_account_id: account._id, ...change })
}

/** The DNS parts with something done once, at a moment of the program. */
function once(moment: 'look' | 'read' | 'before write' | 'after write', action: () => Promise<unknown>): DnsDeps {
  let done = false
  const now = async (at: typeof moment) => {
    if (at !== moment || done) return
    done = true
    await action()
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
    ...environment.deps,
    resolver: { session: () => watched(environment.deps.resolver.session()) },
    provider: (account, credentials) => wrapped(environment.deps.provider(account, credentials)),
  }
}

/** The DNS parts with a provider that takes one record at a time and does some of it otherwise. */
function withProvider(change: (provider: DnsProvider) => Partial<DnsProvider>): DnsDeps {
  return {
    ...environment.deps,
    provider: (account, credentials) => {
      const { batch: _, ...provider } = environment.deps.provider(account, credentials)
      return { ...provider, ...change(provider) }
    },
  }
}

/** Makes a command on a collection fail until the result is called or the test ends. */
function failing({ name }: { name: string }, command: 'delete' | 'findAndModify' | 'update') {
  const { db } = environment.deps
  return failCommands(db, { failCommands: [command], namespace: `${db.databaseName}.${name}`, errorCode: 8000 })
}

const REFUSED = "Failing command via 'failCommand' failpoint"

describe('a status that changes while DNS is looked at stays', () => {
  test('an admin verifies it', async () => {
    const domain = await environment.claim('usr_admin', 'admin.test')
    const deps = once('look', () => verifyByAdmin(environment.deps, domain._id))
    await expect(verifyDomain(deps, domain._id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await environment.domain(domain._id)).toMatchObject({ status: 'verified', verified_by: 'admin' })
    await verifyDomain(environment.deps, domain._id)
    expect(await environment.domain(domain._id)).toMatchObject({ status: 'verified', verified_by: 'admin' })
  })

  test('an admin verifies it long after its claim expired, and its records are kept from then on', async () => {
    const domain = await bound('expired', { dns: { manage: true } })
    await updateDomain(environment.deps.db, domain._id, { status: 'failed' }, ['next_check_at'])
    await verifyByAdmin(environment.deps, domain._id)
    const run = { signal: new AbortController().signal, touch: async () => undefined }
    expect(await checkDueDomains(environment.deps, run)).toBe(1)
    expect(environment.server.transfer('expired.test').join()).toContain(domain.verification_token)
    expect((await environment.domain(domain._id)).next_check_at).toBeInstanceOf(Date)
  })

  test('its resource closes it', async () => {
    const resource = { kind: 'MailDomain', namespace: 'n', name: 'm', uid: 'u1' }
    const domain = await bound('close', { managed_by: resource })
    await publishDns(environment.deps, domain)
    await verifyDomain(environment.deps, domain._id)
    const deps = once('look', () => closeDomain({ ...environment.deps, resource }, domain._id))
    await expect(verifyDomain(deps, domain._id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await environment.domain(domain._id)).toMatchObject({ status: 'suspended', suspended_by: 'resource' })
  })
})

test('accounts that claim a name in the same moment get selectors of their own', async () => {
  const users = ['usr_at_once_1', 'usr_at_once_2', 'usr_at_once_3']
  const made = await Promise.all(users.map(user => registerDomain(environment.deps, user, 'at-once.test')))
  const stored = await Promise.all(made.map(({ _id }) => environment.domain(_id)))
  expect(new Set(stored.flatMap(({ dkim }) => dkim.map(({ selector }) => selector))).size).toBe(3)
  expect(made.map(({ dkim }) => dkim)).toEqual(stored.map(({ dkim }) => dkim))
  expect(stored.map(({ dkim }) => dkim.map(({ state }) => state))).toEqual(Array(3).fill(['active']))
  for (const { _id, dkim } of stored)
    for (const key of dkim)
      expect(publicKeyValue(openDkimKey(environment.deps.secrets, { _id }, key))).toBe(key.public_key)
})

describe('settings', () => {
  test('two parallel changes both apply', async () => {
    const domain = await bound('patch', { dns: { manage: true, spf: ['include:old.example'] } })
    await Promise.all([
      changeDomain(environment.deps, domain.user_id, domain._id, { dns: { address: false } }),
      changeDomain(environment.deps, domain.user_id, domain._id, { dns: { spf: ['include:new.example'] } }),
      changeDomain(environment.deps, domain.user_id, domain._id, { dns: { dkim_rotation_days: 90 } }),
    ])
    expect((await environment.domain(domain._id)).dns).toEqual({
      manage: true,
      address: false,
      spf: ['include:new.example'],
      dkim_rotation_days: 90,
    })
  })

  test('a change while a record is repaired holds, and the repair is remembered', async () => {
    const domain = await bound('memory', { dns: { manage: true } })
    await publishDns(environment.deps, domain)
    await verifyDomain(environment.deps, domain._id)
    await unpublishDns(environment.deps, await environment.domain(domain._id))
    const deps = once('before write', () =>
      changeDomain(environment.deps, domain.user_id, domain._id, {
        dns: { manage: false, spf: ['include:new.example'] },
      }),
    )
    expect((await verifyDomain(deps, domain._id)).event).toBe('domain.failing')
    expect((await environment.domain(domain._id)).dns).toEqual({
      manage: false,
      spf: ['include:new.example'],
      repairs: [expect.any(Date)],
    })
  })
})

describe('a domain that leaves', () => {
  test.each(['locked', 'invalid'] as const)('stays when the provider keeps a record: %s', async kind => {
    const known = await environment.domain((await bound(kind === 'locked' ? 'locked' : 'cut'))._id)
    await publishDns(environment.deps, known)
    const refusing = withProvider(provider => ({
      remove: (zone, record) =>
        record.name.includes('_domainkey')
          ? Promise.reject(new DnsProviderError('rfc2136', kind, verbatim('Not this one.')))
          : provider.remove(zone, record),
    }))
    await expect(removeDomainAndRecords(refusing, known.user_id, known._id, 'remove')).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/_domainkey.*Not this one.*dns=keep/),
    })
    expect(await environment.domain(known._id)).toMatchObject({ dns_owned: [{ row: expect.stringContaining('dkim') }] })
    await removeDomainAndRecords(environment.deps, known.user_id, known._id, 'remove')
    expect(await findDomainById(environment.deps.db, known._id)).toBeUndefined()
  })

  test('blocks other writers until it ends', async () => {
    const before = environment.server.transfer('late.test')
    const domain = await bound('late', { dns: { manage: true } })
    await publishDns(environment.deps, domain)
    const deps = once('after write', async () => {
      const again = publishDns(environment.deps, await environment.domain(domain._id))
      await expect(again).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('being removed') })
    })
    await removeDomainAndRecords(deps, domain.user_id, domain._id, 'remove')
    expect(environment.server.transfer('late.test')).toEqual(before)
    expect(await findDomainById(environment.deps.db, domain._id)).toBeUndefined()
  })

  test.each([
    ['gone', 'read'],
    ['flight', 'before write'],
    ['lost', 'after write'],
  ] as const)('%s: a write that was under way leaves nothing (%s)', async (name, moment) => {
    const before = environment.server.transfer(`${name}.test`)
    const domain = await bound(name)
    const deps = once(moment, () => removeDomainAndRecords(environment.deps, domain.user_id, domain._id, 'remove'))
    await expect(publishDns(deps, domain)).rejects.toMatchObject({ code: 'not_found' })
    expect(environment.server.transfer(`${name}.test`)).toEqual(before)
  })

  test('whose records cannot be removed after a write in flight reports which', async () => {
    const domain = await bound('stuck')
    const refusing = withProvider(provider => ({
      async create(zone, record, note) {
        const made = await provider.create(zone, record, note)
        await removeDomain(environment.deps, domain.user_id, domain._id).catch(() => undefined)
        return made
      },
      remove: () => Promise.reject(new DnsProviderError('rfc2136', 'locked', verbatim('Not this one.'))),
    }))
    await expect(publishDns(refusing, domain)).rejects.toMatchObject({ code: 'not_found' })
    expect(environment.logged.filter(line => line.includes('could not be taken back'))).toEqual([
      expect.stringMatching(/_postwright-challenge\.stuck\.test.*TXT.*failed.*Not this one/),
    ])
  })

  test('queries an account once that replaces two deleted ones', async () => {
    const before = environment.server.transfer('twice.test')
    const domain = await bound('twice')
    await publishDns(environment.deps, domain)
    const { dns_owned = [] } = await environment.domain(domain._id)
    await updateDomain(environment.deps.db, domain._id, {
      dns_owned: dns_owned.map((entry, index) => ({ ...entry, account_id: `dns_gone_${index % 2}` })),
    })
    const asked: string[] = []
    const counting: DnsDeps = {
      ...environment.deps,
      provider: (account, credentials) => {
        asked.push(account._id)
        return environment.deps.provider(account, credentials)
      },
    }
    await unpublishDns(counting, await environment.domain(domain._id))
    expect(asked).toEqual([domain.dns_account_id])
    expect(environment.server.transfer('twice.test')).toEqual(before)
  })

  test('takes its records from the account that they were written through', async () => {
    const before = environment.server.transfer('moved.test')
    const domain = await bound('moved')
    await publishDns(environment.deps, domain)
    const account = await findDnsAccount(environment.deps.db, domain.user_id, domain.dns_account_id ?? '')
    if (!account) throw new Error('no account')
    const other = await environment.account('usr_other', { zone: 'plan.test' })
    const second = { ...other, _id: 'dns_second', user_id: domain.user_id, by_hand: false }
    second.sealed = sealCredentials(
      environment.deps.secrets,
      second._id,
      openCredentials(environment.deps.secrets, other),
    )
    await insertDnsAccount(environment.deps.db, second)
    await changeDomain(environment.deps, domain.user_id, domain._id, { dns_account_id: second._id })
    await publishDns(environment.deps, await environment.domain(domain._id))
    await removeDomainAndRecords(environment.deps, domain.user_id, domain._id, 'remove')
    expect(environment.server.transfer('moved.test')).toEqual(before)
  })
})

describe('an account that is forgotten', () => {
  test('leaves no domain that refers to it, wherever the process ends', async () => {
    const account = await environment.account('usr_forget')
    const domain = await environment.claim('usr_forget', 'x.plan.test', {
      dns_account_id: account._id,
      dns: { manage: true },
    })
    for (const [collection, command] of [
      [domains, 'update'],
      [dnsAccounts, 'delete'],
    ] as const) {
      const restore = await failing(collection, command)
      await expect(deleteDnsAccount(environment.deps.db, 'usr_forget', account._id)).rejects.toThrow(REFUSED)
      await restore()
      expect(await findDnsAccount(environment.deps.db, 'usr_forget', account._id)).toBeDefined()
    }
    expect(await deleteDnsAccount(environment.deps.db, 'usr_forget', account._id)).toBe(true)
    const after = await environment.domain(domain._id)
    expect([after.dns_account_id, after.dns]).toEqual([undefined, { manage: false }])
    expect(await deleteDnsAccount(environment.deps.db, 'usr_stranger', account._id)).toBe(false)
  })

  test.each([
    ['an account that is not there', async () => ({ dns_account_id: 'dns_nowhere' }), /no DNS account/],
    [
      'credentials that cannot be opened',
      async () => {
        const account = await environment.account('usr_spoiled')
        const spoiled = { ...account, _id: 'dns_spoiled', user_id: 'usr_dangling', by_hand: false, sealed: 'v1.x.y' }
        await insertDnsAccount(environment.deps.db, spoiled)
        return { dns_account_id: spoiled._id }
      },
      /cannot be decrypted/,
    ],
    [
      'credentials of a kind that is not taken any more',
      async () => {
        const account = await environment.account('usr_older')
        const credentials = {
          provider: 'rfc2136',
          credentials: { server: 'ns.test:99999', key_name: 'k', key_secret: '' },
        }
        const sealed = environment.deps.secrets.seal(
          'dns-credential',
          'dns-accounts/dns_older',
          JSON.stringify(credentials),
        )
        const older = { ...account, _id: 'dns_older', user_id: 'usr_dangling', by_hand: false, sealed }
        await insertDnsAccount(environment.deps.db, older)
        return { dns_account_id: older._id }
      },
      /decrypted; store them/,
    ],
  ])('a check with %s ends and reports it', async (_, change, message) => {
    const domain = await environment.claim('usr_dangling', `y${message.source.length}.plan.test`, {
      dns: { manage: true },
    })
    await updateDomain(environment.deps.db, domain._id, await change())
    const check = await verifyDomain(environment.deps, domain._id)
    expect(check.errors.map(inEnglish)).toEqual([expect.stringMatching(message)])
  })
})

test('credentials that cannot be decrypted are reported by plan, write, test and removal, and the domain stays', async () => {
  const domain = await bound('sealed')
  await publishDns(environment.deps, domain)
  await updateDnsAccount(environment.deps.db, 'dns_usr_sealed', { sealed: 'v1.x.y' })
  const refusal = { code: 'conflict', detail: expect.stringMatching(/cannot be decrypted; store them again/) }
  await expect(planDomainDns(environment.deps, domain)).rejects.toMatchObject(refusal)
  const message = { code: 'dns_provider.credentials_lost' }
  expect((await publishDns(environment.deps, domain)).stopped).toMatchObject({ kind: 'auth', message })
  expect((await testDnsAccount(environment.deps, domain.user_id, 'dns_usr_sealed')).tested).toMatchObject({
    ok: false,
    message,
  })
  const kept = { ...refusal, detail: expect.stringMatching(/store them again\. .* dns=keep/) }
  await expect(removeDomainAndRecords(environment.deps, domain.user_id, domain._id, 'remove')).rejects.toMatchObject(
    kept,
  )
  const after = await environment.domain(domain._id)
  expect(after.leaving_until).toBeUndefined()
  expect(after.dns_owned).toHaveLength(4)
  await removeDomainAndRecords(environment.deps, domain.user_id, domain._id, 'keep')
  expect(await findDomainById(environment.deps.db, domain._id)).toBeUndefined()
})

test('a plan is applied only as it was shown, also when the zone changes before the first write', async () => {
  const domain = await bound('plan')
  const { id } = await planDomainDns(environment.deps, domain)
  const rival = await environment.claim('usr_rival', 'plan.test', {
    dns_account_id: (await environment.account('usr_rival'))._id,
  })
  const deps = once('before write', () => publishDns(environment.deps, rival))
  await expect(publishDns(deps, domain, { expect: id })).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining('zone changed'),
  })
  expect(environment.server.transfer('plan.test').join()).not.toContain(domain.verification_token)
  const fresh = await planDomainDns(environment.deps, await environment.domain(domain._id))
  const { stopped } = await publishDns(environment.deps, await environment.domain(domain._id), { expect: fresh.id })
  expect(stopped).toBeUndefined()
})

test('a database that refuses every claim ends the run instead of being queried forever', async () => {
  await failing(domains, 'findAndModify')
  const run = { signal: new AbortController().signal, touch: async () => undefined }
  await expect(checkDueDomains(environment.deps, run)).rejects.toThrow(REFUSED)
})
