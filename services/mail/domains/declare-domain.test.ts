import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { ensureIndexes } from '../../platform/database/mongo.ts'
import { applyDomain, closeDomain, type ResourceDeps, releaseDomain, type WantedDomain } from './declare-domain.ts'
import type { DomainDoc } from './store/domain-model.ts'
import { domains } from './store/domain-model.ts'
import { findDomainById, updateDomain } from './store/domains.ts'

const resource = { kind: 'MailDomain', namespace: 'shop', name: 'shop-example', uid: 'uid-1' }
const wanted: WantedDomain = { name: 'shop.example', suspended: false, dns: { manage: false }, dnsAccount: 'keep' }

async function setting(): Promise<{ deps: ResourceDeps; domain: DomainDoc }> {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [domains])
  const deps = { ...testFoundation(mongo, {}, testClock()), db: mongo.db, resource }
  const { domain } = await applyDomain(deps, 'usr_k8s', wanted, true)
  return { deps, domain }
}

/** Suspended and resumed in the resource, or closed for a deletion that keeps the domain. */
const WAYS: [string, (deps: ResourceDeps, id: string) => Promise<unknown>][] = [
  [
    'suspended and resumed',
    async deps => {
      await applyDomain(deps, 'usr_k8s', { ...wanted, suspended: true }, true)
      await applyDomain(deps, 'usr_k8s', wanted, true)
    },
  ],
  [
    'closed and handed back',
    async (deps, id) => {
      await closeDomain(deps, id)
      await releaseDomain(deps, id, 'Retain', false)
    },
  ],
]
const verified_at = new Date('2026-01-01T00:00:00Z')

test.each(
  WAYS.flatMap(([way, act]) =>
    (
      [
        ['that DNS has verified', { status: 'verified', verified_by: 'dns', verified_at }, 'verified'],
        ['that an admin has verified', { status: 'verified', verified_by: 'admin', verified_at }, 'verified'],
        ['that was never verified', { status: 'pending' }, 'pending'],
        ['that lost its verification', { status: 'failed', verified_by: 'dns', verified_at }, 'pending'],
        [
          'that an admin had verified before it waited again',
          { status: 'pending', verified_by: 'admin', verified_at },
          'pending',
        ],
      ] as const
    ).map(([what, before, after]) => [what, way, act, before, after] as const),
  ),
)('a domain %s and is %s comes back as what it was proven to be: %#', async (_what, _way, act, before, after) => {
  const { deps, domain } = await setting()
  await updateDomain(deps.db, domain._id, before)
  await act(deps, domain._id)
  const found = await findDomainById(deps.db, domain._id)
  expect(found?.status).toBe(after)
  expect(found?.suspended_by).toBeUndefined()
  if (after === 'pending') expect(found?.next_check_at).toEqual(deps.clock.now())
})
