/** How long public DNS is checked each minute for the records of a DNSEndpoint that external-dns has not published. */
import { expect, test } from 'vitest'
import { createDnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { applyDomain } from '../../../services/mail/domains/declare-domain.ts'
import { currentDomain, type DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState, good, toConditions, unknown } from '../shared/conditions.ts'
import { managedBy } from '../shared/operator-context.ts'
import { untilPublished } from './mail-domain-endpoint.ts'

const MINUTE = 60_000
const text = verbatim('x')
const OK = good('DNSSynced', 'InSync', text)
const CONFLICT = bad('DNSSynced', 'Conflict', text)
const REFUSED = bad('DNSSynced', 'NamespaceNotAllowed', text)
const FAILED = unknown('DNSSynced', 'ProviderError', text)

/** A run: minutes since the first one, the condition of the write, and what is expected. */
interface Run {
  at: number
  write?: ConditionState
  /** This run wrote records into the object. */
  wrote?: boolean
  /** Public DNS has every record. */
  published?: boolean
  reason: string
  /** The minute in the status; absent: the status has none. */
  since?: number
  /** The next look is in a minute; absent: the usual one of the domain. */
  soon?: boolean
}
const WAITS = { reason: 'WaitingForExternalDNS' } as const

test.each<[string, Run[]]>([
  [
    'half an hour counts from the first write',
    [
      { at: 0, wrote: true, ...WAITS, since: 0, soon: true },
      { at: 1, ...WAITS, since: 0, soon: true },
      { at: 29, ...WAITS, since: 0, soon: true },
      { at: 30, ...WAITS, since: 0 },
      { at: 90, ...WAITS, since: 0 },
    ],
  ],
  [
    'an hour in conflict, with the same status of the condition, does not count',
    [
      { at: 0, write: CONFLICT, reason: 'Conflict' },
      { at: 60, wrote: true, ...WAITS, since: 60, soon: true },
      { at: 89, ...WAITS, since: 60, soon: true },
      { at: 90, ...WAITS, since: 60 },
    ],
  ],
  [
    'neither does an hour without permission, after which nothing has to be written',
    [
      { at: 0, wrote: true, ...WAITS, since: 0, soon: true },
      { at: 1, write: REFUSED, reason: 'NamespaceNotAllowed' },
      { at: 61, ...WAITS, since: 61, soon: true },
    ],
  ],
  [
    'an API server that does not answer for a while changes nothing',
    [
      { at: 0, wrote: true, ...WAITS, since: 0, soon: true },
      { at: 20, write: FAILED, reason: 'ProviderError', since: 0 },
      { at: 21, ...WAITS, since: 0, soon: true },
      { at: 31, ...WAITS, since: 0 },
    ],
  ],
  [
    'records that are written later, such as a new key, have half an hour of their own',
    [
      { at: 0, wrote: true, ...WAITS, since: 0, soon: true },
      { at: 40, ...WAITS, since: 0 },
      { at: 45, wrote: true, ...WAITS, since: 45, soon: true },
      { at: 74, ...WAITS, since: 45, soon: true },
      { at: 75, ...WAITS, since: 45 },
    ],
  ],
  [
    'records that were published and are gone have one, too',
    [
      { at: 0, wrote: true, ...WAITS, since: 0, soon: true },
      { at: 5, published: true, reason: 'InSync' },
      { at: 600, ...WAITS, since: 600, soon: true },
      { at: 605, published: true, write: FAILED, reason: 'ProviderError' },
      { at: 640, ...WAITS, since: 640, soon: true },
    ],
  ],
])('%s', async (_, runs) => {
  const { context, clock, add } = await operatorContext()
  const resource = MailDomain.parse(
    add('MailDomain', 'shop', { domainName: 'shop.example', dns: { managementPolicy: 'DNSEndpoint' } }),
  )
  const { db } = context.mongo
  const deps = { db, clock, secrets: context.secrets, resource: managedBy(resource) }
  const wanted = { name: 'shop.example', suspended: false, dns: { manage: true }, dnsAccount: 'none' as const }
  const { domain } = await applyDomain(deps, 'usr_1', wanted, true)
  const start = clock.now().getTime()
  const minute = (at: string | undefined) => at && (Date.parse(at) - start) / MINUTE
  let status: MailDomain['status']
  const seen: unknown[] = []
  for (const { at, write = OK, wrote = false, published = false } of runs) {
    clock.advance(start + at * MINUTE - clock.now().getTime())
    const events = wrote ? [{ type: 'Normal' as const, reason: 'DNSWritten', action: 'PublishDNS', note: 'x' }] : []
    const first = { conditions: [write], status: {}, events }
    const current = withRecord(domain, published, clock.now())
    await db.collection<DomainDoc>('domains').updateOne({ _id: domain._id }, { $unset: { next_check_at: 1 } })
    const outcome = await untilPublished(context, createDnsDeps(context), { ...resource, status }, current, first)
    status = {
      ...outcome.status,
      conditions: toConditions(outcome.conditions, status?.conditions ?? [], 1, clock.now()),
    }
    const since = minute(status.waitingSince)
    const soon = outcome.requeueAfterMs === MINUTE
    const isRequested = (await currentDomain(db, domain._id))?.next_check_at !== undefined
    expect(isRequested).toBe(soon)
    seen.push({
      reason: outcome.conditions[0]?.reason,
      ...(since === undefined ? {} : { since }),
      ...(soon ? { soon } : {}),
    })
  }
  expect(seen).toEqual(runs.map(({ at: _at, write: _write, wrote: _wrote, published: _published, ...rest }) => rest))
})

/** The domain with one record in the object, as a check two minutes ago saw it. */
function withRecord(domain: DomainDoc, published: boolean, now: Date): DomainDoc {
  const name = 'shop.example'
  const status = published ? ('verified' as const) : ('failed' as const)
  const record = { row: 'spf', status, observed: [], errors: [], warnings: [], instructions: [] }
  const owned = { row: 'spf', name, type: 'TXT' as const, value: 'v=spf1 ~all', account_id: 'dnsendpoint', at: now }
  return {
    ...domain,
    dns_owned: [owned],
    check: { attempts: 1, failures: 0, errors: [], at: new Date(now.getTime() - 2 * MINUTE), records: [record] },
  }
}
