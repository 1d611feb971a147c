/** The collections of DNS accounts, budgets and checks; mains call ensureIndexes with them. */

import { dnsBudgets } from '../../dns/providers/store/call-budgets.ts'
import { dnsAccounts } from '../dns-accounts/store/dns-accounts.ts'
import { dnsChecks } from './domain-model.ts'

/** All collections of the DNS subject. */
export const dnsCollections = [dnsAccounts, dnsBudgets, dnsChecks]
