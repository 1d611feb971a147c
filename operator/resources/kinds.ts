/** All kinds, in the order in which one depends on the other. */
import { APIToken } from './api-token.ts'
import { App } from './app.ts'
import { ClusterDNSProvider } from './cluster-dns-provider.ts'
import { DNSProvider } from './dns-provider.ts'
import { FeatureSwitch } from './feature-switch.ts'
import type { Kind } from './kind.ts'
import { MailDomain } from './mail-domain.ts'
import { SMTPCredential } from './smtp-credential.ts'
import { SubscriptionPlan } from './subscription-plan.ts'
import { Template } from './template.ts'
import { WebhookEndpoint } from './webhook-endpoint.ts'

/** Every kind of the group. */
export const kinds: readonly Kind[] = [
  DNSProvider,
  ClusterDNSProvider,
  MailDomain,
  SMTPCredential,
  APIToken,
  Template,
  App,
  SubscriptionPlan,
  FeatureSwitch,
  WebhookEndpoint,
]

/** The kinds whose objects live in namespaces. */
export const namespacedKinds: readonly Kind[] = kinds.filter(({ scope }) => scope !== 'Cluster')
/** The kinds of the cluster, which only an operator of all namespaces watches. */
export const clusterKinds: readonly Kind[] = kinds.filter(({ scope }) => scope === 'Cluster')
