/** Managed domains between two full checks: what a quick check costs, what it notices, and what it must not hide. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { providerOf } from '../../../services/mail/dns/dns-context.ts'
import type { DnsSession } from '../../../services/mail/dns/dns-session.ts'
import { checkDueDomains } from '../../../services/mail/domains/checks/dns-check-job.ts'
import { verifyDomain } from '../../../services/mail/domains/checks/verify-domain.ts'
import { findDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { requestKey } from '../../../services/mail/domains/rotate-dkim.ts'
import { checkSoon } from '../../../services/mail/domains/store/dns-checks.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateSettings } from '../../../services/mail/domains/store/domains.ts'
import { type DnsTestEnvironment, startDnsTestEnvironment } from '../../support/dns/dns-test-environment.ts'

const MINUTE = 60_000
const NAMES = [
  'cost',
  'lost',
  'changed',
  'other',
  'silent',
  'asked',
  'rotating',
  'theirs',
  'plain',
  'many',
  'lagging',
  'mute',
]

let environment: DnsTestEnvironment
let deps: DnsDeps
let sessions: DnsSession[] = []
beforeAll(async () => {
  const texts = Array.from({ length: 25 }, (_, index) => `@ IN TXT "site=${index}"`)
  environment = await startDnsTestEnvironment(
    NAMES.map(name => ({ name: `${name}.test`, lines: name === 'many' ? texts : ['@ IN TXT "site=1"'] })),
  )
  const { resolver } = environment.deps
  deps = {
    ...environment.deps,
    resolver: {
      session() {
        const session = resolver.session()
        sessions.push(session)
        return session
      },
    },
  }
})
afterEach(() => environment.recursor.misbehave.clear())
afterAll(() => environment?.stop())

/** A verified domain whose records we keep. */
async function kept(name: string, change: Partial<DomainDoc> = {}): Promise<DomainDoc> {
  const account = await environment.account(`usr_${name}`)
  const claimed = { dns_account_id: account._id, dns: { manage: true }, ...change }
  const domain = await environment.claim(`usr_${name}`, `${name}.test`, claimed)
  expect((await publishDns(deps, domain)).stopped).toBeUndefined()
  await verifyDomain(deps, domain._id)
  return environment.domain(domain._id)
}
/** Runs the job when the domain is due next; returns the minutes that passed, and the queries. */
async function nextRun({ _id }: Pick<DomainDoc, '_id'>) {
  const { next_check_at } = await environment.domain(_id)
  const waitMs = (next_check_at?.getTime() ?? 0) - environment.clock.now().getTime()
  environment.clock.advance(Math.max(0, waitMs))
  sessions = []
  await checkDueDomains(deps, { signal: new AbortController().signal, touch: async () => undefined })
  return { minutes: waitMs / MINUTE, queries: sessions.reduce((sum, session) => sum + session.queries(), 0) }
}
const isQuick = ({ next_check_at, quick_check_at }: DomainDoc) =>
  quick_check_at !== undefined && quick_check_at.getTime() === next_check_at?.getTime()
async function removeRecord(domain: DomainDoc, name: string) {
  const account = await findDnsAccount(deps.db, domain.user_id, domain.dns_account_id ?? '')
  const provider = account && providerOf(deps, account)
  const zone = await provider?.findZone(domain.name)
  if (!provider || !zone) throw new Error('no zone')
  for (const record of await provider.list(zone, name)) await provider.remove(zone, record)
}
/** The other domains of this file are not due. */
async function alone({ _id }: Pick<DomainDoc, '_id'>) {
  const far = new Date(environment.clock.now().getTime() + 1e12)
  await deps.db
    .collection<{ _id: string }>('domains')
    .updateMany({ _id: { $ne: _id } }, { $set: { next_check_at: far } })
}

test('an hour of quick and full checks costs no more queries than a full check each quarter', async () => {
  const domain = await kept('cost')
  await alone(domain)
  sessions = []
  await verifyDomain(deps, domain._id)
  const full = sessions.reduce((sum, session) => sum + session.queries(), 0)
  const from = environment.clock.now().getTime()
  let queries = 0
  const waits: number[] = []
  while (environment.clock.now().getTime() - from < 60 * MINUTE) {
    const run = await nextRun(domain)
    queries += run.queries
    waits.push(run.minutes)
  }
  expect(waits.every(minutes => minutes === 5)).toBe(true)
  expect(queries).toBeLessThanOrEqual(4 * full)
  const { check } = await environment.domain(domain._id)
  expect(environment.clock.now().getTime() - (check?.at.getTime() ?? 0)).toBeLessThanOrEqual(30 * MINUTE)
})

describe('a quick check', () => {
  test.each([
    ['a removed proof', 'lost', '_postwright-challenge.lost.test', 'ownership'],
    ['a removed SPF record', 'changed', 'changed.test', 'spf'],
    ['a removed DMARC record', 'other', '_dmarc.other.test', 'dmarc'],
  ])('notices %s within five minutes, and it is repaired in the same run', async (_what, zone, name, row) => {
    const domain = await kept(zone)
    await alone(domain)
    expect(isQuick(domain)).toBe(true)
    await nextRun(domain)
    await removeRecord(domain, name)
    const { minutes } = await nextRun(domain)
    expect(minutes).toBeLessThanOrEqual(5)
    const repaired = await environment.domain(domain._id)
    expect(repaired.check?.repaired).toEqual({ at: environment.clock.now(), rows: [row] })
    expect(environment.server.transfer(domain.name).join('\n')).toContain(name)
    // The repair is confirmed by a full check a minute later, after which all is as before.
    expect(isQuick(repaired)).toBe(false)
    expect((await nextRun(domain)).minutes).toBe(1)
    const confirmed = await environment.domain(domain._id)
    expect(confirmed.check?.repaired).toBeUndefined()
    expect(confirmed.check?.records.find(record => record.row === row)?.status).toBe('verified')
    expect(isQuick(confirmed)).toBe(true)
  })

  test('does not take silence for a loss', async () => {
    const domain = await kept('silent')
    await alone(domain)
    const before = await environment.domain(domain._id)
    const port = deps.resolver
    const silent = { session: () => ({ ...port.session(), everyAuthoritative: async () => [temporary] }) }
    const temporary = { kind: 'temporary' as const, reason: 'no answer' }
    environment.clock.advance(5 * MINUTE)
    await checkDueDomains(
      { ...deps, resolver: silent as unknown as DnsDeps['resolver'] },
      { signal: new AbortController().signal, touch: async () => undefined },
    )
    const after = await environment.domain(domain._id)
    expect(after.check).toEqual(before.check)
    expect(isQuick(after)).toBe(true)
    expect(after.next_check_at?.getTime()).toBeGreaterThan(before.next_check_at?.getTime() ?? 0)
  })

  test.each([
    ['one server lost a record', 'lagging', 'missing', true],
    ['one server does not answer', 'mute', 'temporary', false],
  ])('with several servers, of which %s: a full check follows: %s', async (_what, name, kind, full) => {
    const domain = await kept(name)
    await alone(domain)
    const { resolver } = deps
    const second = kind === 'missing' ? { kind, reason: 'nodata' } : { kind, reason: 'no answer' }
    const session = () => {
      const one = resolver.session()
      const everyAuthoritative: DnsSession['everyAuthoritative'] = async (...question) => [
        ...(await one.everyAuthoritative(...question)),
        second as Awaited<ReturnType<DnsSession['authoritative']>>,
      ]
      return { ...one, everyAuthoritative }
    }
    environment.clock.advance(5 * MINUTE)
    const now = environment.clock.now()
    const run = { signal: new AbortController().signal, touch: async () => undefined }
    await checkDueDomains({ ...deps, resolver: { session } }, run)
    expect((await environment.domain(domain._id)).check?.at.getTime() === now.getTime()).toBe(full)
  })

  test('does not replace a full check that was asked for', async () => {
    const domain = await kept('asked')
    await alone(domain)
    environment.clock.advance(MINUTE)
    await checkSoon(deps.db, domain._id, environment.clock.now())
    await nextRun(domain)
    expect((await environment.domain(domain._id)).check?.at).toEqual(environment.clock.now())
  })

  test('is not enough while a key waits to take over', async () => {
    const domain = await kept('rotating')
    await alone(domain)
    await requestKey(deps, domain, {})
    await nextRun(domain)
    expect(isQuick(await environment.domain(domain._id))).toBe(false)
  })

  test('is none for a domain whose records its owner writes', async () => {
    const domain = await kept('theirs')
    await updateSettings(deps.db, domain._id, { manage: false })
    await verifyDomain(deps, domain._id)
    const own = await environment.domain(domain._id)
    expect(own.quick_check_at).toBeUndefined()
    expect((own.next_check_at?.getTime() ?? 0) - environment.clock.now().getTime()).toBe(360 * MINUTE)
  })

  test('is none after a suspension, whose end wants a full check', async () => {
    const domain = await kept('plain')
    await alone(domain)
    await deps.db.collection<{ _id: string }>('domains').updateOne({ _id: domain._id }, { $set: { status: 'pending' } })
    await nextRun(domain)
    const checked = await environment.domain(domain._id)
    expect(checked.check?.at).toEqual(environment.clock.now())
    expect(checked.status).toBe('verified')
  })

  test('leaves a name with more values than are remembered to the full check', async () => {
    const domain = await kept('many')
    await alone(domain)
    const { check } = await environment.domain(domain._id)
    expect(check?.records.find(({ row }) => row === 'spf')?.observed).toHaveLength(20)
    await nextRun(domain)
    expect((await environment.domain(domain._id)).check?.at).toEqual(check?.at)
  })
})
