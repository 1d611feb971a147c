/** The operator's area over HTTP: sending addresses, certificates, resources, another try for a destination. */
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { retrySite } from '../../delivery/queue-control.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { showState } from '../../http/shared/resource-state.ts'
import { managedRecords } from '../../managed-records.ts'
import type { ManagedBy } from '../../store/documents.ts'
import { fixSlotCount } from '../../store/slots.ts'
import { addressCheck } from '../check-addresses.ts'
import { certificateStatus, findCertificateErrors } from '../rules/certificate.ts'
import { servedCertificates } from '../store/certificates.ts'
import { getSendingAddresses, listCertificates, listResources, retryQueueOperation } from './administration-contract.ts'

/** Puts the operations on the router. */
export function mountOperator(
  router: Router,
  { authorise, audit, mongo, clock, config }: MailHttpDeps,
  dns: DnsDeps,
): void {
  const check = addressCheck(dns)
  bind(router, authorise, getSendingAddresses, async ({ query }) => {
    const { at, addresses } = await check(query.fresh)
    return {
      object: 'sending_addresses' as const,
      hostname: config.MAIL_HOSTNAME,
      checked_at: at.toISOString(),
      data: addresses.map(({ blocklists, ...address }) => ({
        ...address,
        blocklists: blocklists.map(({ reason, ...list }) => ({
          ...list,
          ...sentenceFields('reason', reason ?? undefined),
        })),
      })),
    }
  })

  bind(router, authorise, listCertificates, async () => {
    const host = config.SUBMISSION_HOST ?? config.MAIL_HOSTNAME
    const now = clock.now()
    const data = (await servedCertificates(mongo)).map(certificate => {
      const { _id, names, issuer, key, notBefore, notAfter, file, seen_at } = certificate
      const errors = findCertificateErrors(certificate, host, now)
      return {
        ...{ fingerprint: _id, names, issuer, key, file, faults: errors, status: certificateStatus(errors) },
        not_before: notBefore.toISOString(),
        not_after: notAfter.toISOString(),
        seen_at: seen_at.toISOString(),
      }
    })
    return { object: 'list' as const, host, data, has_more: false as const }
  })

  bind(router, authorise, listResources, async () => {
    const { records, complete } = await managedRecords(mongo.db)
    const data = records.map(({ resource, record, state }) => ({
      resource: nameOf(resource),
      record,
      state: showState(state),
    }))
    return { object: 'list' as const, data, has_more: !complete }
  })

  bind(router, authorise, retryQueueOperation, async ({ body: { site } }, caller, context) => {
    const slots = await fixSlotCount(mongo, config.SLOTS)
    const retried = await retrySite({ mongo, clock }, { site, slots, relay: config.DELIVERY_MODE === 'relay' })
    await audit(caller, context, { action: 'queue.retried', target: { type: 'site', id: site, name: site } })
    return { object: 'queue_retry' as const, site, retried }
  })
}

function nameOf({ kind, namespace, name }: ManagedBy) {
  return { kind, namespace, name }
}
