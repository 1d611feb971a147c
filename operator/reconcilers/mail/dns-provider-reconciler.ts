/** Reconciles DNSProviders: reads the credentials from the Secret, tests them and stores them sealed. */

import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { type DnsCredentials, dnsCredentials } from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import {
  applyDnsAccount,
  withdrawDnsAccounts,
} from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { HOUR_MS } from '../../../services/platform/durations.ts'
import { validate } from '../../../services/platform/json/bounded-validation.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import { clauses } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { keyOf } from '../../kube/object-paths.ts'
import { SECRET_LABEL, type SecretObject } from '../../kube/object-writer.ts'
import { DNSProvider } from '../../resources/dns-provider.ts'
import type { Kind } from '../../resources/kind.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, good, toSeconds, unknown } from '../shared/conditions.ts'
import { entitlementOf } from '../shared/namespace-entitlement.ts'
import { namespaceAccount } from '../shared/namespace-owners.ts'
import { cacheOf, managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler, type Removal } from '../shared/reconcile.ts'
import { REFUSED_MS, refusalOf } from '../shared/use-case-errors.ts'
import { isPermanent, pauseAfter, reasonOf } from './dns-provider-access.ts'

type Spec = DNSProvider['spec']
type Status = NonNullable<DNSProvider['status']>

/** A missing Secret has no label and is not watched: check again after this time. */
const MISSING_MS = 30_000
/** While MailDomains use the provider, its deletion is tried again after this time. */
const IN_USE_MS = 5_000
/** Working credentials are tested again after this time. */
const RETEST_MS = 6 * HOUR_MS

/** The reconciler of DNSProviders. */
export function dnsProviderReconciler(context: OperatorContext, dns: DnsDeps): Reconciler<Spec, Status> {
  return {
    kind: DNSProvider,
    ensure: resource => ensure(context, dns, resource),
    remove: (resource, retain) => remove(context, resource, retain),
    mirror: (id, uid, state) => mirrorState(context.mongo.db, 'DNSProvider', uid, id, state),
  }
}

async function ensure(context: OperatorContext, dns: DnsDeps, resource: DNSProvider): Promise<Outcome> {
  const { metadata, spec, status } = resource
  // Credentials of the namespace are not left with accounts that it may not act for any more.
  await withdrawDnsAccounts(dns, managedBy(resource), async userId => {
    return !(await entitlementOf(context, metadata.namespace, userId)).allowed
  })
  const id = { namespace: metadata.namespace, name: spec.secretRef.name }
  const secret = await context.writer.readSecret(id)
  const invalid = (reason: string, message: Sentence, requeueAfterMs?: number): Outcome => ({
    conditions: [bad('CredentialsValid', reason, message)],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  })
  if (!secret)
    return invalid('SecretNotFound', sentence('resource.credentials_secret_missing', { name: id.name }), MISSING_MS)
  if (!secret.metadata.labels?.[SECRET_LABEL]) await context.writer.labelSecret(id)
  const credentials = credentialsOf(spec, secret)
  if (Array.isArray(credentials))
    return invalid(
      'InvalidSecret',
      sentence('resource.credentials_invalid', { name: id.name, errors: clauses(credentials) }),
    )
  try {
    const owner = await ensureNamespaceAccount(context, namespaceAccount(metadata.namespace), metadata.namespace)
    const { account } = await applyDnsAccount(dns, managedBy(resource), owner._id, credentials)
    const zones = account.tested.zones.length
    const message = sentence('resource.credentials_accepted', { count: zones })
    return {
      conditions: [
        accepted(sentence('resource.dns_account_accepted', { account: owner.username })),
        good('CredentialsValid', 'Available', message),
      ],
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
    const tries = triesSince(status, context.clock.now())
    const reason =
      error.kind === 'auth'
        ? sentence('resource.credentials_refused', { reason: error.sentence, name: id.name })
        : error.sentence
    return {
      conditions: [make('CredentialsValid', reasonOf(error.kind), reason)],
      requeueAfterMs: pauseAfter(tries, error.retryAfter),
    }
  }
}

/** The credentials in the form of the API, or what is wrong with the Secret. Values are never repeated. */
function credentialsOf({ type, cloudflare, rfc2136 }: Spec, { data = {} }: SecretObject): DnsCredentials | Sentence[] {
  const value = (key: string) => (data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString())
  const pick = (...keys: string[]) => Object.fromEntries(keys.map(key => [key, value(key)]))
  const forms = {
    cloudflare: () => ({ ...pick('api_token'), ...(cloudflare?.zoneId ? { zone_id: cloudflare.zoneId } : {}) }),
    aliyun: () => pick('access_key_id', 'access_key_secret'),
    dnspod: () => pick('secret_id', 'secret_key'),
    rfc2136: () => ({
      ...pick('key_secret'),
      server: rfc2136?.server,
      ...(rfc2136?.zone ? { zone: rfc2136.zone } : {}),
      key_name: rfc2136?.keyName,
      key_algorithm: rfc2136?.keyAlgorithm,
    }),
  }
  const parsed = validate(dnsCredentials, { provider: type, credentials: forms[type]() })
  if (parsed.ok) return parsed.data
  return parsed.issues.map(({ path, reason }) => {
    const key = String(path.at(-1))
    return value(key) === undefined && !key.startsWith('key_n')
      ? sentence('resource.credentials_no_key', { key })
      : sentence('resource.credentials_wrong_value', { key, reason })
  })
}

/** How often it was tried since the condition turned, from the time that passed: each pause doubles. */
function triesSince(status: Status | undefined, now: Date): number {
  const since = status?.conditions?.find(({ type, status: is }) => type === 'CredentialsValid' && is !== 'True')
  if (!since) return 1
  const seconds = (now.getTime() - Date.parse(since.lastTransitionTime)) / 1000
  return 1 + Math.max(0, Math.ceil(Math.log2(1 + seconds / 5)))
}

async function remove(context: OperatorContext, resource: DNSProvider, retain: boolean): Promise<Removal> {
  const { metadata } = resource
  const cache = cacheOf(context, MailDomain as unknown as Kind)
  const users = cache.find('DNSProvider', keyOf(metadata)).filter(key => cache.get(key)?.metadata.finalizers?.length)
  if (users.length > 0 && !retain) {
    const names = users.slice(0, 5).map(key => key.split('/')[1] ?? key)
    const message = sentence('resource.dns_provider_in_use', { count: users.length, names })
    return { done: false, condition: bad('DeletionBlocked', 'InUse', message), requeueAfterMs: IN_USE_MS }
  }
  await withdrawDnsAccounts({ db: context.mongo.db }, managedBy(resource))
  return { done: true }
}
