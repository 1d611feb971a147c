/** All reconcilers, and the collections that they work on. */
import { users } from '../services/accounts/store/users.ts'
import { credentials } from '../services/mail/store/credentials.ts'
import { dnsAccounts } from '../services/mail/store/dns-accounts.ts'
import { dnsBudgets } from '../services/mail/store/dns-budget.ts'
import { domains } from '../services/mail/store/domains.ts'
import { tokens } from '../services/mail/store/tokens.ts'
import type { CollectionDefinition } from '../services/platform/mongo.ts'
import { subscriptionCollections } from '../services/subscriptions/store/collections.ts'
import { apiTokenReconciler } from './api-token.ts'
import { appReconciler } from './app.ts'
import { subscriptionsOf } from './apps.ts'
import type { OperatorContext } from './context.ts'
import type { Reconcile } from './controller.ts'
import { fencedDns } from './dns.ts'
import { dnsProviderReconciler } from './dns-provider.ts'
import { featureSwitchReconciler } from './feature-switch.ts'
import { mailDomainReconciler } from './mail-domain.ts'
import { createReconcile } from './reconcile.ts'
import { smtpCredentialReconciler } from './smtp-credential.ts'
import { subscriptionPlanReconciler } from './subscription-plan.ts'

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
