/** All reconcilers, and the collections that they work on. */
import { users } from '../../services/accounts/store/users.ts'
import { credentials } from '../../services/mail/credentials/store/smtp-credentials.ts'
import { tokens } from '../../services/mail/credentials/store/tokens.ts'
import { dnsBudgets } from '../../services/mail/dns/providers/store/call-budgets.ts'
import { dnsAccounts } from '../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { domains } from '../../services/mail/domains/store/domains.ts'
import type { CollectionDefinition } from '../../services/platform/database/mongo.ts'
import { subscriptionCollections } from '../../services/subscriptions/store/collections.ts'
import { apiTokenReconciler } from '../reconcilers/mail/api-token-reconciler.ts'
import { fencedDns } from '../reconcilers/mail/dns-provider-access.ts'
import { dnsProviderReconciler } from '../reconcilers/mail/dns-provider-reconciler.ts'
import { smtpCredentialReconciler } from '../reconcilers/mail/smtp-credential-reconciler.ts'
import { mailDomainReconciler } from '../reconcilers/mail-domain/mail-domain-reconciler.ts'
import type { OperatorContext } from '../reconcilers/shared/operator-context.ts'
import { createReconcile } from '../reconcilers/shared/reconcile.ts'
import { appReconciler } from '../reconcilers/subscriptions/app-reconciler.ts'
import { subscriptionsOf } from '../reconcilers/subscriptions/app-ref.ts'
import { featureSwitchReconciler } from '../reconcilers/subscriptions/feature-switch-reconciler.ts'
import { subscriptionPlanReconciler } from '../reconcilers/subscriptions/subscription-plan-reconciler.ts'
import type { Reconcile } from './controller.ts'

/** Collections whose indexes must be there. */
export const collections: readonly CollectionDefinition<object>[] = [
  users,
  domains,
  dnsAccounts,
  dnsBudgets,
  credentials,
  tokens,
  ...subscriptionCollections,
]

/** Collections with records that resources manage, or wait for. */
export const recordCollections: readonly string[] = [
  users.name,
  domains.name,
  dnsAccounts.name,
  credentials.name,
  tokens.name,
  'sub_apps',
  'sub_plans',
  'sub_switches',
]

/** The reconcile function of each kind. */
export function reconcileFunctions(context: OperatorContext): ReadonlyMap<string, Reconcile> {
  const s = subscriptionsOf(context)
  const dns = fencedDns(context)
  return new Map<string, Reconcile>([
    ['App', createReconcile(context, appReconciler(context, s))],
    ['SubscriptionPlan', createReconcile(context, subscriptionPlanReconciler(context, s))],
    ['FeatureSwitch', createReconcile(context, featureSwitchReconciler(context, s))],
    ['MailDomain', createReconcile(context, mailDomainReconciler(context, dns))],
    ['DNSProvider', createReconcile(context, dnsProviderReconciler(context, dns))],
    ['SMTPCredential', createReconcile(context, smtpCredentialReconciler(context))],
    ['APIToken', createReconcile(context, apiTokenReconciler(context))],
  ])
}
