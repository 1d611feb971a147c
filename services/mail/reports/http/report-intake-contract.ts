/** The addresses at which other servers deliver reports, as the document of the API shows them. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { REPORTS_PATH, type ReportKind } from '../../message/report-address.ts'
import { DMARC_REPORT, domainReport } from './domain-reports-contract.ts'

const binary = { type: 'string', format: 'binary' } as const

const TLS_REPORT = JSON.stringify({
  ...{ 'organization-name': 'receiver.example', 'report-id': '2025-11-20', 'contact-info': 'tls@receiver.example' },
  'date-range': { 'start-datetime': '2025-11-20T00:00:00Z', 'end-datetime': '2025-11-20T23:59:59Z' },
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'example.com' },
      summary: { 'total-successful-session-count': 12, 'total-failure-session-count': 0 },
    },
  ],
})

const intake = (kind: ReportKind, operationId: string, type: string, summary: string, text: string) =>
  endpoint({
    operationId,
    tag: 'Service',
    method: 'POST',
    path: `${REPORTS_PATH}/${kind}/{token}`,
    summary,
    access: { kind: 'public' } as const,
    params: z.object({ token: z.string().min(1) }),
    example: { content: { type: 'application/octet-stream', text } },
    requestContent: { [type]: binary, 'application/octet-stream': binary },
    status: 201,
    response: domainReport,
    alternative: { status: 200, description: 'The report was counted before.', response: domainReport },
  })

/** Any caller that has the signed address of a domain. */
export const intakeOperations = [
  intake(
    'dmarc',
    'deliverDmarcReport',
    'application/gzip',
    'Takes a DMARC aggregate report about the domain that the signed token names.',
    DMARC_REPORT,
  ),
  intake(
    'tls',
    'deliverTlsReport',
    'application/tlsrpt+gzip',
    'Takes a TLS report (RFC 8460) about the domain that the signed token names, as `rua=https:` of its DNS record asks for.',
    TLS_REPORT,
  ),
]
