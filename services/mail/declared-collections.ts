/** The collections that Kubernetes resources of the mail module work on. */
import type { CollectionDefinition } from '../platform/database/mongo.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { tokens } from './credentials/store/tokens.ts'
import { dnsBudgets } from './dns/providers/store/call-budgets.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domain-model.ts'
import { templates, templateVersions } from './templates/store/templates.ts'
import { mailWebhooks, webhookCollections } from './webhooks/store/webhook-collections.ts'

/** Name of the collection of sending domains. */
export const DOMAIN_COLLECTION = domains.name

/** Names of the collections whose records resources declare. */
export const declaredMailRecords: readonly string[] = [
  ...[domains.name, dnsAccounts.name, credentials.name, tokens.name],
  ...[templates.name, mailWebhooks.name],
]

/** All collections that the declaring use cases read or write: their indexes must exist. */
export const declaredMailCollections: readonly CollectionDefinition<object>[] = [
  domains,
  dnsAccounts,
  dnsBudgets,
  credentials,
  tokens,
  templates,
  templateVersions,
  ...webhookCollections,
]
