/** The documents of received reports: a key for each report, and counters by day and source (ADR 85). */
import * as field from '../../../platform/database/fields.ts'
import { type DocumentOf, defineModel } from '../../../platform/database/models.ts'

/** A report that was counted: its key makes a second copy count for nothing. */
export const domainReports = defineModel('domain_reports', {
  _id: field.text,
  user_id: field.text,
  domain_id: field.text,
  kind: field.oneOf('dmarc', 'tls'),
  /** Who reports, and its name for the report. */
  org: field.text,
  report_id: field.text,
  contact: field.optional(String),
  begin: field.date,
  end: field.date,
  /** Messages of DMARC; sessions of TLS. */
  total: field.number,
  /** Messages that did not pass; sessions that failed. */
  failed: field.number,
  /** Records that were not valid. */
  skipped: field.number,
  via: field.oneOf('api', 'https', 'mail'),
  received_at: field.date,
  exp: field.date,
})
domainReports.schema.index({ domain_id: 1, kind: 1, org: 1, report_id: 1 }, { unique: true })
domainReports.schema.index({ domain_id: 1, kind: 1, begin: 1 })
domainReports.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** Messages by result; see `DmarcCounters`. */
const counters = {
  messages: field.number,
  pass: field.number,
  dkim: field.number,
  spf: field.number,
  misaligned: field.number,
  forwarded: field.number,
  quarantine: field.number,
  reject: field.number,
}

/** A domain's messages of a day, over all sources and reporters. */
export const dmarcDays = defineModel('dmarc_days', {
  /** `<domain id>/<day>`. */
  _id: field.text,
  domain_id: field.text,
  /** UTC, as in `2026-11-23`. */
  day: field.text,
  ...counters,
  exp: field.date,
})
dmarcDays.schema.index({ domain_id: 1, day: 1 })
dmarcDays.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** A domain's messages of a day from one source. */
export const dmarcSources = defineModel('dmarc_sources', {
  /** A digest of the fields below that are not counters. */
  _id: field.text,
  domain_id: field.text,
  day: field.text,
  /** Empty where sources were added up for lack of room. */
  ip: field.text,
  spf_domain: field.text,
  dkim_domain: field.text,
  ...counters,
  exp: field.date,
})
dmarcSources.schema.index({ domain_id: 1, day: 1 })
dmarcSources.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** Sessions of a day with a domain's hosts that had one result. */
export const tlsResults = defineModel('tls_results', {
  /** A digest of the fields below but `sessions`. */
  _id: field.text,
  domain_id: field.text,
  day: field.text,
  policy: field.oneOf('tlsa', 'sts', 'no-policy-found'),
  /** Empty for success. */
  result: field.text,
  /** Empty where the report does not name a host. */
  mx: field.text,
  sessions: field.number,
  exp: field.date,
})
tlsResults.schema.index({ domain_id: 1, day: 1 })
tlsResults.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

/** All collections of received reports; mains call ensureIndexes with them. */
export const reportCollections = [domainReports, dmarcDays, dmarcSources, tlsResults]

export type DomainReportDoc = DocumentOf<typeof domainReports>
