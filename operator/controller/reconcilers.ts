/** The reconcile functions of all kinds, and the collections that they work on. */

import { accountCollection } from '../../services/accounts/find-account.ts'
import { declaredMailCollections, declaredMailRecords } from '../../services/mail/declared-collections.ts'
import type { CollectionDefinition } from '../../services/platform/database/mongo.ts'
import { openSubscriptions } from '../../services/subscriptions/context.ts'
import {
  declaredSubscriptionCollections,
  declaredSubscriptionRecords,
} from '../../services/subscriptions/declared-collections.ts'
import { apiTokenReconciler } from '../reconcilers/mail/api-token-reconciler.ts'
import { clusterDnsProviderReconciler } from '../reconcilers/mail/cluster-dns-provider-reconciler.ts'
import { leaderOnlyDns } from '../reconcilers/mail/dns-provider-access.ts'
import { dnsProviderReconciler } from '../reconcilers/mail/dns-provider-reconciler.ts'
import { smtpCredentialReconciler } from '../reconcilers/mail/smtp-credential-reconciler.ts'
import { templateReconciler } from '../reconcilers/mail/template-reconciler.ts'
import { mailDomainReconciler } from '../reconcilers/mail-domain/mail-domain-reconciler.ts'
import type { OperatorContext } from '../reconcilers/shared/operator-context.ts'
import { createReconcile } from '../reconcilers/shared/reconcile.ts'
import { appReconciler } from '../reconcilers/subscriptions/app-reconciler.ts'
import { featureSwitchReconciler } from '../reconcilers/subscriptions/feature-switch-reconciler.ts'
import { subscriptionPlanReconciler } from '../reconcilers/subscriptions/subscription-plan-reconciler.ts'
import { webhookEndpointReconciler } from '../reconcilers/webhooks/webhook-endpoint-reconciler.ts'
import type { Reconcile } from './controller.ts'

/** Collections whose indexes must exist before the operator starts. */
export const collections: readonly CollectionDefinition<object>[] = [
  accountCollection,
  ...declaredMailCollections,
  ...declaredSubscriptionCollections,
]

/** Names of the collections whose changes wake resources: their own records, and records that they wait for. */
export const recordCollections: readonly string[] = [
  accountCollection.name,
  ...declaredMailRecords,
  ...declaredSubscriptionRecords,
]

/** The reconcile function of each kind. */
export function reconcileFunctions(context: OperatorContext): ReadonlyMap<string, Reconcile> {
  const subscriptions = openSubscriptions(context)
  const dns = leaderOnlyDns(context)
  return new Map<string, Reconcile>([
    ['App', createReconcile(context, appReconciler(context, subscriptions))],
    ['SubscriptionPlan', createReconcile(context, subscriptionPlanReconciler(context, subscriptions))],
    ['FeatureSwitch', createReconcile(context, featureSwitchReconciler(context, subscriptions))],
    ['MailDomain', createReconcile(context, mailDomainReconciler(context, dns))],
    ['DNSProvider', createReconcile(context, dnsProviderReconciler(context, dns))],
    ['ClusterDNSProvider', createReconcile(context, clusterDnsProviderReconciler(context, dns))],
    ['SMTPCredential', createReconcile(context, smtpCredentialReconciler(context))],
    ['APIToken', createReconcile(context, apiTokenReconciler(context))],
    ['Template', createReconcile(context, templateReconciler(context))],
    ['WebhookEndpoint', createReconcile(context, webhookEndpointReconciler(context, subscriptions))],
  ])
}
