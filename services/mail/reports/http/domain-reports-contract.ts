/** The operations on DMARC and TLS reports about a domain. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import type { Access } from '../../http/shared/access.ts'

const READ: Access = { kind: 'account', scope: 'domains:read' }
const WRITE: Access = { kind: 'account', scope: 'domains:write' }
const time = z.iso.datetime()
const count = z.number()
const params = z.strictObject({ id: z.string().min(1).max(255) })
/** The period ends today and has this many days. */
const period = z.strictObject({ days: z.coerce.number().int().min(1).max(400).default(30) })

const binary = { type: 'string', format: 'binary' } as const
/** Reports are recognised by their content: any type is accepted, also that of XML or JSON. */
const FILES = {
  'application/octet-stream': binary,
  'application/gzip': binary,
  'application/zip': binary,
}

/** The smallest report, for examples. */
export const DMARC_REPORT =
  '<feedback><report_metadata><org_name>receiver.example</org_name><report_id>2025-11-20</report_id><date_range><begin>1763596800</begin><end>1763683199</end></date_range></report_metadata><policy_published><domain>example.com</domain><p>none</p></policy_published></feedback>'

/** A report that was counted. */
export const domainReport = z
  .strictObject({
    object: z.literal('domain_report'),
    kind: z.enum(['dmarc', 'tls']),
    organisation: z.string(),
    report_id: z.string(),
    begin: time,
    end: time,
    /** Messages of a DMARC report, sessions of a TLS report; and how many of them failed. */
    total: count,
    failed: count,
    /** Records that were left out because they are not valid. */
    skipped: count,
    /** The report was counted before; nothing was added. */
    duplicate: z.boolean(),
  })
  .meta({ id: 'DomainReport' })

/** `POST /api/v1/domains/{id}/reports`. */
export const addDomainReportOperation = endpoint({
  operationId: 'addDomainReport',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/reports',
  summary:
    'Counts a DMARC aggregate report (XML of RFC 7489 or RFC 9990) or a TLS report (JSON of RFC 8460), plain, gzip or zip, as the body: at most 10 MiB, 25 MiB decompressed. A report that was counted before changes nothing.',
  access: WRITE,
  example: {
    content: {
      type: 'application/octet-stream',
      text: DMARC_REPORT,
    },
  },
  params,
  requestContent: FILES,
  response: domainReport,
})

const counters = {
  messages: count,
  /** DKIM or SPF passed and is aligned with the author's domain. */
  pass: count,
  fail: count,
  dkim_pass: count,
  spf_pass: count,
  quarantined: count,
  rejected: count,
}
const reporter = z.strictObject({
  organisation: z.string(),
  reports: count,
  total: count,
  failed: count,
  last_received_at: time,
})

/** DMARC results of a domain. */
export const dmarcSummary = z
  .strictObject({
    object: z.literal('dmarc_summary'),
    domain: z.string(),
    from: z.iso.date(),
    to: z.iso.date(),
    totals: z.strictObject(counters),
    /** Days with reports, oldest first. */
    by_day: z.array(z.strictObject({ day: z.iso.date(), ...counters })),
    /** At most 200, those with most messages first; of the last 90 days only. */
    sources: z.array(
      z.strictObject({
        /** Null where sources were added up because there were too many to keep each. */
        ip: z.string().nullable(),
        spf_domain: z.string().nullable(),
        dkim_domain: z.string().nullable(),
        ...counters,
        verdict: z.enum([
          ...(['ours', 'ours_failing', 'authorised', 'forwarder', 'forwarder_failing'] as const),
          ...(['misconfigured', 'forged', 'other_sources'] as const),
        ]),
        explanation: z.string(),
        explanation_code: sentenceCode,
        explanation_params: sentenceParams,
      }),
    ),
    /** There are more sources than these. */
    more_sources: z.boolean(),
    reporters: z.array(reporter),
  })
  .meta({ id: 'DmarcSummary' })

/** `GET /api/v1/domains/{id}/dmarc`. */
export const getDmarcOperation = endpoint({
  operationId: 'getDomainDmarc',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains/{id}/dmarc',
  summary: 'What receivers reported about mail with this domain as its author: by day, by source, by reporter.',
  access: READ,
  params,
  query: period,
  response: dmarcSummary,
})

const sessions = { successful: count, failed: count }

/** TLS results of a domain. */
export const tlsSummary = z
  .strictObject({
    object: z.literal('tls_summary'),
    domain: z.string(),
    from: z.iso.date(),
    to: z.iso.date(),
    totals: z.strictObject(sessions),
    by_day: z.array(z.strictObject({ day: z.iso.date(), ...sessions })),
    /** At most 200, most sessions first. */
    failures: z.array(
      z.strictObject({
        policy: z.enum(['tlsa', 'sts', 'no-policy-found']),
        /** Result type of RFC 8460 section 4.3, or `other`. */
        result: z.string(),
        mx: z.string().nullable(),
        sessions: count,
      }),
    ),
    reporters: z.array(reporter),
  })
  .meta({ id: 'TlsSummary' })

/** `GET /api/v1/domains/{id}/tls-reports`. */
export const getTlsReportsOperation = endpoint({
  operationId: 'getDomainTlsReports',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains/{id}/tls-reports',
  summary: 'What senders reported about TLS with the mail servers of this domain: by day, by failure, by reporter.',
  access: READ,
  params,
  query: period,
  response: tlsSummary,
})
