/** Stores the credentials of a DNS account once its provider takes them, and describes the result in conditions. */

import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import type { DnsAccountDoc } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { HOUR_MS } from '../../../services/platform/durations.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import type { Condition, Resource } from '../../resources/kind.ts'
import { bad, good, toSeconds, unknown } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Removal } from '../shared/reconcile.ts'
import { REFUSED_MS, refusalOf } from '../shared/use-case-errors.ts'
import { isPermanent, pauseAfter, reasonOf } from './dns-provider-access.ts'

/** Working credentials are tested again after this time. */
const RETEST_MS = 6 * HOUR_MS
/** While MailDomains use the provider, its deletion is tried again after this time. */
const IN_USE_MS = 5_000

/** A DNSProvider or ClusterDNSProvider. */
type AccountResource = Resource<{ secretRef?: { name: string } | undefined }, { conditions?: Condition[] | undefined }>

/** Runs `store`, which tests the credentials and throws DnsProviderError when the provider refuses them. */
export async function storeCredentials(
  { clock }: Pick<OperatorContext, 'clock'>,
  { spec, status }: AccountResource,
  store: () => Promise<{ account: DnsAccountDoc; accepted: Sentence }>,
): Promise<Outcome> {
  try {
    const { account, accepted: reason } = await store()
    const zones = account.tested.zones.length
    const message = sentence('resource.credentials_accepted', { count: zones })
    return {
      conditions: [accepted(reason), good('CredentialsValid', 'Available', message)],
      message,
      status: { accountId: account._id, zones, lastValidatedTime: toSeconds(account.tested.at) },
      requeueAfterMs: RETEST_MS,
      recordId: account._id,
    }
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'conflict')
      return { conditions: [bad('Accepted', 'OwnerNotAllowed', error.sentence)], requeueAfterMs: REFUSED_MS }
    if (!(error instanceof DnsProviderError)) return refusalOf(error)
    const make = isPermanent(error.kind) ? bad : unknown
    const reason =
      error.kind === 'auth' && spec.secretRef
        ? sentence('resource.credentials_refused', { reason: error.sentence, name: spec.secretRef.name })
        : error.sentence
    return {
      conditions: [make('CredentialsValid', reasonOf(error.kind), reason)],
      requeueAfterMs: pauseAfter(triesSince(status?.conditions, clock.now()), error.retryAfter),
    }
  }
}

/** How often it was tried since the condition turned, from the time that passed: each pause doubles. */
function triesSince(conditions: readonly Condition[] | undefined, now: Date): number {
  const since = conditions?.find(({ type, status: is }) => type === 'CredentialsValid' && is !== 'True')
  if (!since) return 1
  const seconds = (now.getTime() - Date.parse(since.lastTransitionTime)) / 1000
  return 1 + Math.max(0, Math.ceil(Math.log2(1 + seconds / 5)))
}

/** MailDomains that the provider writes for keep it from being deleted; the message names some of them. */
export function inUse(count: number, names: readonly string[]): Removal {
  const message = sentence('resource.dns_provider_in_use', { count, names: names.slice(0, 5) })
  return { done: false, condition: bad('DeletionBlocked', 'InUse', message), requeueAfterMs: IN_USE_MS }
}
