/** TLS reports to recipient domains, as JSON documents and as mail (RFC 8460 sections 4.4, 5.1 and 5.3). */
import { createHash } from 'node:crypto'
import { DAY_SECONDS } from '../../../platform/durations.ts'
import { mxOf, type TlsFailureCount } from '../../delivery/rules/tls-results.ts'
import { domainOf } from '../../message/address.ts'
import { rfc5322Date } from '../../message/delivery-status-notification.ts'

/** Sessions of the day under one policy. */
export interface ReportedSessions {
  type: 'sts' | 'no-policy-found'
  strings: readonly string[]
  successful: number
  failed: number
  failures: readonly TlsFailureCount[]
}

/** What a report says. */
export interface OutgoingTlsReport {
  /** UTC, as in `2026-11-23`. */
  day: string
  /** The recipient domain. */
  domain: string
  organization: string
  /** Address for questions; its domain submits the report. */
  contact: string
  /** Name of this system. */
  hostname: string
  policies: readonly ReportedSessions[]
}

/** The id of a domain's report of a day: the same for every worker, so that a repeated report is known as such. */
export function tlsReportId({ day, domain, hostname }: Pick<OutgoingTlsReport, 'day' | 'domain' | 'hostname'>): string {
  const digest = createHash('sha256').update(`${day}/${domain}/${hostname}`).digest('hex').slice(0, 20)
  return `${day}.${digest}@${hostname}`
}

/** The JSON document of section 4.4. */
export function tlsReportDocument(report: OutgoingTlsReport): object {
  const { day, domain, organization, contact, policies } = report
  return {
    'organization-name': organization,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': contact,
    'report-id': tlsReportId(report),
    policies: policies.map(policy => policyEntry(domain, policy)),
  }
}

function policyEntry(domain: string, { type, strings, successful, failed, failures }: ReportedSessions): object {
  const ofSts = type === 'sts'
  return {
    policy: {
      'policy-type': type,
      ...(ofSts && { 'policy-string': strings }),
      'policy-domain': domain,
      ...(ofSts && { 'mx-host': mxOf({ strings }) }),
    },
    summary: { 'total-successful-session-count': successful, 'total-failure-session-count': failed },
    ...(failures.length > 0 && { 'failure-details': failures.map(failureEntry) }),
  }
}

function failureEntry({ type, from, mx, ip, sessions, reason }: TlsFailureCount): object {
  return {
    'result-type': type,
    ...(from !== undefined && { 'sending-mta-ip': from }),
    ...(mx !== undefined && { 'receiving-mx-hostname': mx }),
    ...(ip !== undefined && { 'receiving-ip': ip }),
    'failed-session-count': sessions,
    ...(reason !== undefined && { 'failure-reason-code': reason }),
  }
}

/** File name of a compressed report (section 5.1): submitter, domain, begin and end of the period. */
export function tlsReportFileName({ day, domain, contact }: OutgoingTlsReport): string {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  return `${submitterOf(contact)}!${domain}!${begin}!${begin + DAY_SECONDS - 1}.json.gz`
}

/** One mail with a report. */
export interface TlsReportMail {
  to: string
  messageId: string
  boundary: string
  at: Date
  /** The document, compressed with gzip. */
  file: Uint8Array
}

/** Subject of a report's mail (section 5.3). */
export function tlsReportSubject(report: OutgoingTlsReport): string {
  return `Report Domain: ${report.domain} Submitter: ${submitterOf(report.contact)} Report-ID: <${tlsReportId(report)}>`
}

/** The complete mail with CRLF line ends, in 7 bits. `TLS-Required: No` (RFC 8689): TLS that fails must not keep it. */
export function tlsReportMail(report: OutgoingTlsReport, { to, messageId, boundary, at, file }: TlsReportMail): Buffer {
  const { day, domain, organization, contact } = report
  const name = tlsReportFileName(report)
  return Buffer.from(
    [
      `From: <${contact}>`,
      `To: <${to}>`,
      `Subject: ${tlsReportSubject(report).replaceAll(/ (?=Submitter: |Report-ID: )/g, '\r\n ')}`,
      `Date: ${rfc5322Date(at)}`,
      `Message-ID: ${messageId}`,
      `TLS-Report-Domain: ${domain}`,
      `TLS-Report-Submitter: ${submitterOf(contact)}`,
      'TLS-Required: No',
      'Auto-Submitted: auto-generated',
      'MIME-Version: 1.0',
      `Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      base64(Buffer.from(explanation(day, domain, organization))),
      `--${boundary}`,
      'Content-Type: application/tlsrpt+gzip',
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment;\r\n filename="${name}"`,
      '',
      base64(Buffer.from(file)),
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  )
}

function explanation(day: string, domain: string, organization: string): string {
  return `This is an aggregate TLS report (RFC 8460) from ${organization} about mail to ${domain}\r\non ${day} (UTC).\r\n`
}

function submitterOf(contact: string): string {
  return domainOf(contact).toLowerCase()
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll(/.{76}(?=.)/g, '$&\r\n')
}
