/** What an admin sees of the installation: the queue and the health of its parts. */
import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { forwardingNotes } from '../../../platform/http/untrusted-proxy.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { isTrustedProxy, proxyNetworks } from '../../../platform/network/ip-networks.ts'
import type { Config } from '../../../platform/process/config.ts'
import type { LogRoutesDeps } from '../../log/http/emails.ts'
import { getHealth, getQueues } from '../../log/http/reports-contract.ts'
import { troubledSites } from '../../store/sites.ts'
import { livingWorkers } from '../../store/slots.ts'
import { evaluateHealth, overall } from '../rules/health.ts'
import { oldestDueOf, type QueueView, viewQueue } from '../store/queue-view.ts'

/** Adds the operations to a router. */
export function addAdminReports(
  router: Router,
  {
    authorise,
    mongo,
    clock,
    config,
    clockSkewMs = () => 0,
  }: LogRoutesDeps & { clock: Clock; config: Config; clockSkewMs?: (() => number) | undefined },
): void {
  bind(router, authorise, getQueues, async () => {
    const now = clock.now()
    const [view, suspended] = await Promise.all([viewQueue(mongo, now), troubledSites(mongo, now)])
    return {
      object: 'queues' as const,
      depth: view.depth,
      oldest_due_at: view.oldestDue?.toISOString() ?? null,
      sites: view.sites.map(toSite),
      sampled: view.sampled,
      suspended: suspended.map(({ _id, state, since, reason, explanation, suspended_until: until, limit, rate }) => ({
        site: _id,
        until: (until ?? now).toISOString(),
        state: state === 'down' ? ('down' as const) : ('throttled' as const),
        since: since?.toISOString() ?? null,
        ...sentenceFields('reason', explanation ?? reason),
        connections: limit,
        messages_per_second: rate ?? null,
      })),
    }
  })
  bind(router, authorise, getHealth, async () => {
    const now = clock.now()
    const [workers, oldestDue, forwarding] = await Promise.all([
      livingWorkers(mongo),
      oldestDueOf(mongo),
      forwardingNotes(mongo),
    ])
    const trusted = config.TRUSTED_PROXIES
    // Noted before it was trusted: the note goes within an hour.
    const untrusted = forwarding.find(({ peer }) => !isTrustedProxy(peer, trusted))
    const checks = evaluateHealth({
      mongoUp: mongo.isUp(),
      workers,
      oldestDue,
      hostname: config.MAIL_HOSTNAME,
      sendingIps: config.SENDING_IP,
      mode: config.DELIVERY_MODE,
      trustedProxies: proxyNetworks(trusted),
      untrustedProxy: untrusted?.peer,
      clockSkewMs: clockSkewMs(),
      now,
    })
    return {
      object: 'health' as const,
      status: overall(checks),
      checks: checks.map(({ name, status, detail }) => ({ name, status, ...sentenceFields('detail', detail) })),
    }
  })
}

function toSite({ site, waiting, due, deferred, oldest }: QueueView['sites'][number]) {
  return { site, waiting, due, deferred, oldest_due_at: oldest?.toISOString() ?? null }
}
