/**
 * `POST /reports/{dmarc|tls}/{token}`: takes reports from those who were pointed to it by a DNS record, as
 * `rua=https:…` of TLS reports does (RFC 8460 section 3). There is no login; the token is signed, and names the domain.
 */
import type Koa from 'koa'
import { createRouter, factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { findDomainById } from '../../domains/store/domains.ts'
import { createRateLimit } from '../../http/shared/rate-limit.ts'
import { domainOfToken, REPORTS_PATH, type ReportKind } from '../../message/report-address.ts'
import { showReport } from './domain-reports.ts'
import type { TakeUpload } from './read-upload.ts'

/** Reports of a minute: of one network, which may report on all domains of an installation, and about one domain. */
const PER_NETWORK = 600
const PER_DOMAIN = 120

/** Mounts the address. Answers 201 for a new report and 200 for one that was counted before. */
export function mountReportIntake(
  app: Koa,
  { mongo, secrets }: Pick<Foundation, 'mongo' | 'secrets'>,
  takeUpload: TakeUpload,
): void {
  const router = createRouter()
  const takeOfNetwork = createRateLimit(mongo.db, { name: 'reports-from', points: PER_NETWORK, seconds: 60 })
  const takeOfDomain = createRateLimit(mongo.db, { name: 'reports-of', points: PER_DOMAIN, seconds: 60 })
  const mac = (value: string) => secrets.macs('report-address', value)
  for (const kind of ['dmarc', 'tls'] as const satisfies ReportKind[])
    router.post(`${REPORTS_PATH}/${kind}/:token`, async (context: WebContext) => {
      context.state.route = `${REPORTS_PATH}/${kind}`
      await takeOfNetwork(context, clientNetwork(factsOf(context).ip))
      const id = domainOfToken(kind, String(context.params.token), mac)
      const domain = id === undefined ? undefined : await findDomainById(mongo.db, id)
      if (!domain) throw new ProblemError('not_found')
      await takeOfDomain(context, domain._id)
      const taken = await takeUpload(context, domain, 'https')
      context.status = taken.duplicate ? 200 : 201
      context.body = showReport(taken)
    })
  app.use(router.routes())
}
