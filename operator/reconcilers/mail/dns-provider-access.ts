/** The DNS use cases as the operator runs them: every write at a provider checks the lease first. */

import { createDnsDeps, type DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import type { Batch, DnsProvider, ProviderErrorKind } from '../../../services/mail/dns/providers/provider.ts'
import type { OperatorContext } from '../shared/operator-context.ts'

/** Dependencies of the DNS use cases whose providers write only while this process leads. */
export function leaderOnlyDns(context: OperatorContext): DnsDeps {
  const deps = createDnsDeps(context)
  return {
    ...deps,
    provider: (account, credentials) => leaderOnlyProvider(deps.provider(account, credentials), context.assertLeader),
  }
}

/** A provider that throws `NotLeaderError` instead of writing when this process is no longer the leader. Reads pass. */
function leaderOnlyProvider(provider: DnsProvider, assertLeader: () => void): DnsProvider {
  const { batch } = provider
  return {
    type: provider.type,
    test: () => provider.test(),
    findZone: name => provider.findZone(name),
    list: (zone, name) => provider.list(zone, name),
    read: questions => provider.read(questions),
    ...(batch ? { batch: { guarded: batch.guarded, write: leaderOnlyBatch(batch, assertLeader) } } : {}),
    async create(zone, record, note) {
      assertLeader()
      return provider.create(zone, record, note)
    },
    async update(zone, before, record) {
      assertLeader()
      return provider.update(zone, before, record)
    },
    async remove(zone, record) {
      assertLeader()
      return provider.remove(zone, record)
    },
  }
}

function leaderOnlyBatch(batch: Batch, assertLeader: () => void): Batch['write'] {
  return async (...change) => {
    assertLeader()
    return batch.write(...change)
  }
}

/** Reason of a condition for an error of a provider. */
export function reasonOf(kind: ProviderErrorKind | 'unsettled'): string {
  return REASONS[kind] ?? 'ProviderError'
}

const REASONS: Partial<Record<ProviderErrorKind | 'unsettled', string>> = {
  auth: 'AuthFailed',
  permission: 'PermissionDenied',
  zone_not_found: 'ZoneNotFound',
  zone_ambiguous: 'ZoneNotFound',
  rate_limited: 'RateLimited',
  conflict: 'Conflict',
  locked: 'Conflict',
}

/** Errors that a retry cannot fix without a change by the owner. */
export function isPermanent(kind: ProviderErrorKind | 'unsettled'): boolean {
  return kind === 'auth' || kind === 'permission' || kind === 'zone_not_found' || kind === 'zone_ambiguous'
}

/**
 * Pause after consecutive failures, in milliseconds: 5 s doubled up to 15 min, and at least the provider's Retry-After.
 */
export function pauseAfter(failures: number, retryAfterSeconds: number | undefined): number {
  return Math.max((retryAfterSeconds ?? 0) * 1000, Math.min(900_000, 5_000 * 2 ** Math.min(failures - 1, 10)))
}
