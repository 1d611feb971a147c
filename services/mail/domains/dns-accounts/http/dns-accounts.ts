/** DNS accounts over HTTP. */
import { bind } from '../../../../platform/http/web-app.ts'
import type { DnsDeps } from '../../../dns/dns-context.ts'
import type { MailHttpDeps, Router } from '../../../http/shared/context.ts'
import type { RequestedChecks } from '../../checks/requested-checks.ts'
import {
  createDnsAccountOperation,
  deleteDnsAccountOperation,
  getDnsAccountOperation,
  listDnsAccountsOperation,
  putDnsAccountOperation,
  testDnsAccountOperation,
} from '../../http/dns-contract.ts'
import { showAccount } from '../../http/dns-views.ts'
import {
  createDnsAccount,
  getDnsAccount,
  removeDnsAccount,
  replaceCredentials,
  testDnsAccount,
} from '../manage-dns-accounts.ts'
import type { DnsAccountDoc } from '../store/dns-accounts.ts'
import { listDnsAccounts } from '../store/dns-accounts.ts'

/** Puts the operations on DNS accounts on the router. */
export function mountDnsAccounts(
  router: Router,
  { authorise, audit }: MailHttpDeps,
  dns: DnsDeps,
  { run }: RequestedChecks,
): void {
  const target = ({ _id, name }: DnsAccountDoc) => ({ type: 'dns_account', id: _id, name })

  bind(router, authorise, createDnsAccountOperation, async ({ body }, caller, context) => {
    const account = await run(caller.account.id, () => createDnsAccount(dns, caller.account.id, body))
    await audit(caller, context, { action: 'dns_account.created', target: target(account) })
    context.set('Location', `/api/v1/dns-accounts/${account._id}`)
    return showAccount(account)
  })

  bind(router, authorise, listDnsAccountsOperation, async (_, { account }) => ({
    object: 'list' as const,
    data: (await listDnsAccounts(dns.db, account.id)).map(showAccount),
    has_more: false as const,
  }))

  bind(router, authorise, getDnsAccountOperation, async ({ params }, { account }) =>
    showAccount(await getDnsAccount(dns, account.id, params.id)),
  )

  bind(router, authorise, putDnsAccountOperation, async ({ params, body }, caller, context) => {
    const account = await run(caller.account.id, () => replaceCredentials(dns, caller.account.id, params.id, body))
    await audit(caller, context, { action: 'dns_account.changed', target: target(account) })
    return showAccount(account)
  })

  bind(router, authorise, deleteDnsAccountOperation, async ({ params }, caller, context) => {
    const account = await removeDnsAccount(dns, caller.account.id, params.id)
    await audit(caller, context, { action: 'dns_account.deleted', target: target(account) })
  })

  bind(router, authorise, testDnsAccountOperation, async ({ params }, { account }) =>
    showAccount(await run(account.id, () => testDnsAccount(dns, account.id, params.id))),
  )
}
