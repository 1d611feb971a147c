/** The collections of DNS accounts, budgets and checks; mains call ensureIndexes with them. */
import { dnsAccounts } from './dns-accounts.ts'
import { dnsBudgets } from './dns-budget.ts'
import { dnsChecks } from './dns-checks.ts'

/** All collections of the DNS half. */
export const dnsCollections = [dnsAccounts, dnsBudgets, dnsChecks]
