/** Sending domains over HTTP. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import type { Db } from '../../../platform/database/mongo.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { type ListOrders, orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import { type DnsDeps, sendingHost } from '../../dns/dns-context.ts'
import type { SendingHost } from '../../dns/records/guidance.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { showState } from '../../http/shared/resource-state.ts'
import type { RequestedChecks } from '../checks/requested-checks.ts'
import { changeDomain, getDomain, registerDomain, verifyByAdmin } from '../register-domain.ts'
import { removeDomainAndRecords } from '../remove-domain.ts'
import { diversionOf } from '../rules/delivery-mode.ts'
import type { SendPolicy } from '../rules/sending-account.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import { domainMaySend, listDomains } from '../store/domains.ts'
import { showRecords, showSettings, showSummary } from './dns-views.ts'
import {
  ALL_DOMAIN_ORDERS,
  createDomainOperation,
  DOMAIN_ORDERS,
  deleteDomainOperation,
  type domain,
  getDomainOperation,
  listAllDomainsOperation,
  listDomainsOperation,
  patchDomainOperation,
  verifyByAdminOperation,
} from './domains-contract.ts'
import { showRefusals } from './refusal-views.ts'

/** Dependencies of the operations that read domains. */
type DomainReads = Pick<MailHttpDeps, 'authorise' | 'policy' | 'config' | 'mongo' | 'clock'>

/** How domains are shown: one, and a page of those of an account, or of all. */
function views({ policy, config, mongo: { db }, clock }: DomainReads) {
  const host = sendingHost(config)
  const show = (doc: DomainDoc) => showDomain(db, doc, policy, host, clock.now())
  const page = async <C extends string>(
    userId: string | undefined,
    orders: ListOrders<C>,
    query: Parameters<typeof orderedPage<C>>[1] & { search?: string | undefined },
  ) => {
    const rows = await listDomains(db, { userId, search: query.search }, orderedPage(orders, query))
    const list = toOrderedPage(orders, query, rows, show)
    return { ...list, data: await Promise.all(list.data) }
  }
  return { show, page }
}

/** Puts the operations that read the domains of an account on the router. */
export function addDomainReads(router: Router, deps: DomainReads): void {
  const { show, page } = views(deps)
  bind(router, deps.authorise, listDomainsOperation, ({ query }, { account }) => page(account.id, DOMAIN_ORDERS, query))
  bind(router, deps.authorise, getDomainOperation, async ({ params }, { account }) =>
    show(await getDomain({ db: deps.mongo.db }, account.id, params.id)),
  )
}

/** Puts the operations on domains on the router. */
export function mountDomains(router: Router, deps: MailHttpDeps, dns: DnsDeps, checks: RequestedChecks): void {
  const { authorise, audit, config } = deps
  const useCase = { ...deps, db: deps.mongo.db }
  const { show, page } = views(deps)
  const target = ({ _id, name }: DomainDoc) => ({ type: 'domain', id: _id, name })

  bind(router, authorise, createDomainOperation, async ({ body }, caller, context) => {
    const created = await registerDomain(useCase, caller.account.id, body.name, config.DOMAINS_PER_ACCOUNT)
    await audit(caller, context, { action: 'domain.created', target: target(created) })
    context.set('Location', `/api/v1/domains/${created._id}`)
    return show(created)
  })

  addDomainReads(router, deps)

  bind(router, authorise, patchDomainOperation, async ({ params, body }, caller, context) => {
    const changed = await changeDomain(useCase, caller.account.id, params.id, body)
    await audit(caller, context, { action: 'domain.changed', target: target(changed) })
    return show(changed)
  })

  bind(router, authorise, deleteDomainOperation, async ({ params, query }, caller, context) => {
    const leave = () => removeDomainAndRecords(dns, caller.account.id, params.id, query.dns)
    const removed = await (query.dns === 'keep' ? leave() : checks.run(caller.account.id, leave))
    await audit(caller, context, { action: 'domain.deleted', target: target(removed) })
  })

  bind(router, authorise, listAllDomainsOperation, ({ query }) => page(query.user_id, ALL_DOMAIN_ORDERS, query))

  bind(router, authorise, verifyByAdminOperation, async ({ params }, caller, context) => {
    const verified = await verifyByAdmin(useCase, params.id)
    const happening = { action: 'domain.verified_by_admin', target: target(verified), userId: verified.user_id }
    await audit(caller, context, happening)
    return show(verified)
  })
}

/** How a domain looks in answers. */
async function showDomain(
  db: Db,
  doc: DomainDoc,
  policy: SendPolicy,
  host: SendingHost,
  now: Date,
): Promise<z.input<typeof domain>> {
  return {
    object: 'domain',
    id: doc._id,
    name: doc.name,
    user_id: doc.user_id,
    status: doc.status,
    verified_by: (doc.status === 'verified' && doc.verified_by) || null,
    verified_at: (doc.status === 'verified' && doc.verified_at?.toISOString()) || null,
    may_send: await domainMaySend(db, doc, policy),
    dkim: doc.dkim.map(({ selector, algorithm, state, public_key, created_at, seen_at }) => ({
      selector,
      algorithm,
      state,
      public_key,
      created_at: created_at.toISOString(),
      seen_at: seen_at?.toISOString() ?? null,
    })),
    dns_account_id: doc.dns_account_id ?? null,
    records: showRecords(doc, host),
    dns: showSettings(doc),
    tracking: { opens: doc.tracking?.opens ?? false, clicks: doc.tracking?.clicks ?? false },
    delivery: diversionOf(doc)?.mode ?? 'live',
    redirect_to: doc.redirect_to ?? null,
    check: showSummary(doc),
    authentication_refusals: showRefusals(doc, now),
    managed_by: showManagedBy(doc.managed_by),
    resource: doc.managed_by ? showState(doc.k8s) : null,
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  }
}
