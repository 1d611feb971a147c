/** The DNS use cases as the operator runs them: every write at a provider checks the lease first. */

import { createDnsDeps, type DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import type { Batch, DnsProvider, ProviderErrorKind } from '../../../services/mail/dns/providers/provider.ts'
import type { OperatorContext } from '../shared/operator-context.ts'

/** Dependencies of the DNS use cases with the fence in front of all writes. */
export function leaderOnlyDns(context: OperatorContext): DnsDeps {
  const deps = createDnsDeps(context)
  return {
    ...deps,
    provider: (account, credentials) => leaderOnlyProvider(deps.provider(account, credentials), context.assertLeader),
  }
}

/** A provider that throws `NotLeaderError` instead of writing when this process leads no more. Reads pass. */
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

/** Reason of a condition for a fault of a provider. */
export function reasonOf(fault: ProviderErrorKind | 'unsettled'): string {
  return REASONS[fault] ?? 'ProviderError'
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

/** Faults that waiting alone does not mend. */
export function isPermanent(fault: ProviderErrorKind | 'unsettled'): boolean {
  return fault === 'auth' || fault === 'permission' || fault === 'zone_not_found' || fault === 'zone_ambiguous'
}

/** Pause after so many failures in a row, in milliseconds: 5 s doubled up to 15 min; the provider's own wish wins. */
export function pauseAfter(failures: number, retryAfterSeconds: number | undefined): number {
  return Math.max((retryAfterSeconds ?? 0) * 1000, Math.min(900_000, 5_000 * 2 ** Math.min(failures - 1, 10)))
}
