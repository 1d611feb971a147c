/** The DNS of a domain over HTTP: checks, zone file, plan and apply, DKIM keys. */
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import { toPage } from '../../../platform/cursor-pages.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { type DnsDeps, sendingHost } from '../../dns/dns-context.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { refuseManaged } from '../../managed.ts'
import type { RequestedChecks } from '../checks/requested-checks.ts'
import { planDomainDns, publishDns } from '../publishing/publish-records.ts'
import { getDomain } from '../register-domain.ts'
import { activateKey, requestKey, revokeKey } from '../rotate-dkim.ts'
import { listChecks } from '../store/dns-checks.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import {
  activateDkimOperation,
  applyDnsOperation,
  listChecksOperation,
  planDnsOperation,
  revokeDkimOperation,
  rotateDkimOperation,
  verifyDomainOperation,
  zoneFileOperation,
} from './dns-contract.ts'
import { showCheck, showKey, showPlan, showPublished, showZoneFile } from './dns-views.ts'

/** New keys of an account are made one after the other. */
const ROTATIONS = { perKey: 1, waiting: 10 }

/** Puts the operations on a domain's DNS on the router. */
export function mountDomainDns(
  router: Router,
  { authorise, audit }: MailHttpDeps,
  dns: DnsDeps,
  checks: RequestedChecks,
): void {
  const domainOf = (userId: string, id: string) => getDomain(dns, userId, id)
  const rotations = createFairLimiter(ROTATIONS)
  const target = ({ _id, name }: DomainDoc) => ({ type: 'domain', id: _id, name })

  bind(router, authorise, verifyDomainOperation, async ({ params }, { account }) => {
    return showCheck(await checks.check(await domainOf(account.id, params.id)))
  })

  bind(router, authorise, listChecksOperation, async ({ params, query }, { account }) => {
    const { _id } = await domainOf(account.id, params.id)
    return toPage(await listChecks(dns.db, _id, query), query.limit, showCheck)
  })

  bind(router, authorise, zoneFileOperation, async ({ params }, { account }, context) => {
    const domain = await domainOf(account.id, params.id)
    context.set('Content-Disposition', `attachment; filename="${domain.name}.zone"`)
    context.type = 'text/plain; charset=utf-8'
    context.body = showZoneFile(domain, sendingHost(dns.config))
    return undefined
  })

  bind(router, authorise, planDnsOperation, async ({ params, body }, { account }) => {
    const domain = await domainOf(account.id, params.id)
    const plan = await checks.change(domain, () =>
      planDomainDns(dns, domain, body.accept ? { accept: body.accept } : {}),
    )
    return showPlan(plan)
  })

  bind(router, authorise, applyDnsOperation, async ({ params, body }, caller, context) => {
    const domain = await domainOf(caller.account.id, params.id)
    const published = await checks.change(domain, () =>
      publishDns(dns, domain, {
        ...(body.accept ? { accept: body.accept } : {}),
        ...(body.plan_id === undefined ? {} : { expect: body.plan_id }),
      }),
    )
    await audit(caller, context, { action: 'domain.dns_applied', target: target(domain) })
    return showPublished(published)
  })

  bind(router, authorise, rotateDkimOperation, async ({ params, body }, caller, context) => {
    const domain = await domainOf(caller.account.id, params.id)
    refuseManaged(domain, {})
    const { algorithm, selector, private_key } = body
    const wanted = {
      ...(algorithm ? { algorithm } : {}),
      ...(selector === undefined ? {} : { selector }),
      ...(private_key === undefined ? {} : { privateKey: private_key }),
    }
    // Read again when it is its turn: the one before it may have added a key.
    const key = await rotations(caller.account.id, async () =>
      requestKey(dns, await domainOf(caller.account.id, domain._id), wanted),
    )
    await audit(caller, context, { action: 'domain.dkim_rotated', target: target(domain) })
    return showKey(key)
  })

  for (const [operation, change, action] of [
    [activateDkimOperation, activateKey, 'domain.dkim_activated'],
    [revokeDkimOperation, revokeKey, 'domain.dkim_revoked'],
  ] as const)
    bind(router, authorise, operation, async ({ params }, caller, context) => {
      const domain = await domainOf(caller.account.id, params.id)
      refuseManaged(domain, {})
      const keys = await change(dns, domain, params.selector)
      await audit(caller, context, { action, target: target(domain) })
      return { object: 'list' as const, data: keys.map(showKey) }
    })
}
