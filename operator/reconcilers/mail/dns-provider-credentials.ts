/** The credentials of a DNSProvider or ClusterDNSProvider: its settings, and the values of its Secret. */
import {
  type DnsCredentials,
  dnsCredentials,
  storedCredentials,
} from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import { validate } from '../../../services/platform/json/bounded-validation.ts'
import { clauses } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { SECRET_LABEL, type SecretObject } from '../../kube/object-writer.ts'
import type { DNSProvider } from '../../resources/dns-provider.ts'
import { bad } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'

/** A missing Secret has no label and is not watched: check again after this time. */
const MISSING_MS = 30_000

/** What both kinds of DNS accounts declare of their provider. */
type AccountSpec = Omit<DNSProvider['spec'], 'secretRef'> & {
  secretRef?: { name: string; namespace?: string } | undefined
}

/** Reads the Secret in this namespace, and labels it so that its changes are seen. `invalid`: what is missing or wrong, as a condition. */
export async function readCredentials(
  context: OperatorContext,
  spec: AccountSpec,
  namespace: string,
): Promise<{ credentials: DnsCredentials } | { invalid: Outcome }> {
  const { secretRef } = spec
  if (!secretRef)
    return orInvalid(credentialsOf(spec, namespace), errors =>
      sentence('resource.credentials_none_invalid', { errors }),
    )
  const { name } = secretRef
  const secret = await context.writer.readSecret({ namespace, name })
  if (!secret) {
    const reason =
      secretRef.namespace === undefined
        ? sentence('resource.credentials_secret_missing', { name })
        : sentence('resource.credentials_secret_missing_in', { name, namespace })
    return invalid('SecretNotFound', reason, MISSING_MS)
  }
  if (!secret.metadata.labels?.[SECRET_LABEL]) await context.writer.labelSecret({ namespace, name })
  return orInvalid(credentialsOf(spec, namespace, secret.data), errors =>
    sentence('resource.credentials_invalid', { name, errors }),
  )
}

function orInvalid(credentials: DnsCredentials | Sentence[], reason: (errors: Sentence) => Sentence) {
  return Array.isArray(credentials) ? invalid('InvalidSecret', reason(clauses(credentials))) : { credentials }
}

function invalid(reason: string, message: Sentence, requeueAfterMs?: number): { invalid: Outcome } {
  const conditions = [bad('CredentialsValid', reason, message)]
  return { invalid: { conditions, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) } }
}

/** The credentials in the form of the API, or what is wrong with the Secret. Values are never repeated. */
function credentialsOf(
  { type, workloadIdentity, cloudflare, rfc2136, route53, google, azure, webhook }: AccountSpec,
  namespace: string,
  data: SecretObject['data'] = {},
): DnsCredentials | Sentence[] {
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
    route53: () => ({
      ...(workloadIdentity ? { workload_namespace: namespace } : pick('access_key_id', 'secret_access_key')),
      ...(route53?.hostedZoneId ? { hosted_zone_id: route53.hostedZoneId } : {}),
    }),
    google: () => ({
      ...(workloadIdentity ? { workload_namespace: namespace } : pick('service_account_key')),
      ...(google?.project ? { project: google.project } : {}),
      ...(google?.managedZone ? { managed_zone: google.managedZone } : {}),
    }),
    azure: () => ({
      ...(workloadIdentity
        ? { workload_namespace: namespace }
        : { tenant_id: azure?.tenantId, client_id: azure?.clientId, ...pick('client_secret') }),
      subscription_id: azure?.subscriptionId,
      ...(azure?.resourceGroup ? { resource_group: azure.resourceGroup } : {}),
    }),
    webhook: () => ({
      url: webhook?.url,
      ...(value('bearer') === undefined ? {} : pick('bearer')),
      ...(webhook?.zones ? { zones: webhook.zones } : {}),
    }),
  }
  // A union within would report no fields.
  const schema = workloadIdentity ? storedCredentials : dnsCredentials
  const parsed = validate(schema, { provider: type, credentials: forms[type]() })
  if (parsed.ok) return parsed.data
  return parsed.issues.map(({ path, reason }) => {
    const key = String(path.at(-1))
    return value(key) === undefined && !key.startsWith('key_n')
      ? sentence('resource.credentials_no_key', { key })
      : sentence('resource.credentials_wrong_value', { key, reason })
  })
}
