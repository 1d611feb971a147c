import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readReport } from '../reading/read-report.ts'
import {
  type OutgoingTlsReport,
  tlsReportDocument,
  tlsReportFileName,
  tlsReportId,
  tlsReportMail,
  tlsReportSubject,
} from './build-tls-report.ts'

/** The example of RFC 8460, appendix B, as far as a sender without DANE writes it. */
const REPORT: OutgoingTlsReport = {
  day: '2016-04-01',
  domain: 'company-y.example',
  organization: 'Company-X',
  contact: 'sts-reporting@company-x.example',
  hostname: 'mail.company-x.example',
  policies: [
    {
      type: 'sts',
      strings: ['version: STSv1', 'mode: testing', 'mx: *.mail.company-y.example', 'max_age: 86400'],
      successful: 5326,
      failed: 303,
      failures: [
        {
          type: 'certificate-expired',
          from: '2001:db8:abcd:0012::1',
          mx: 'mx1.mail.company-y.example',
          ip: '203.0.113.1',
          reason: 'CERT_HAS_EXPIRED',
          sessions: 100,
        },
        { type: 'starttls-not-supported', mx: 'mx2.mail.company-y.example', ip: '203.0.113.56', sessions: 200 },
        { type: 'validation-failure', mx: 'mx-backup.mail.company-y.example', ip: '203.0.113.57', sessions: 3 },
      ],
    },
    { type: 'no-policy-found', strings: [], successful: 7, failed: 0, failures: [] },
  ],
}

describe('a report', () => {
  test('has the structure of the RFC', () => {
    expect(tlsReportDocument(REPORT)).toEqual({
      'organization-name': 'Company-X',
      'date-range': { 'start-datetime': '2016-04-01T00:00:00Z', 'end-datetime': '2016-04-01T23:59:59Z' },
      'contact-info': 'sts-reporting@company-x.example',
      'report-id': tlsReportId(REPORT),
      policies: [
        {
          policy: {
            'policy-type': 'sts',
            'policy-string': ['version: STSv1', 'mode: testing', 'mx: *.mail.company-y.example', 'max_age: 86400'],
            'policy-domain': 'company-y.example',
            'mx-host': ['*.mail.company-y.example'],
          },
          summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': 303 },
          'failure-details': [
            {
              'result-type': 'certificate-expired',
              'sending-mta-ip': '2001:db8:abcd:0012::1',
              'receiving-mx-hostname': 'mx1.mail.company-y.example',
              'receiving-ip': '203.0.113.1',
              'failed-session-count': 100,
              'failure-reason-code': 'CERT_HAS_EXPIRED',
            },
            {
              'result-type': 'starttls-not-supported',
              'receiving-mx-hostname': 'mx2.mail.company-y.example',
              'receiving-ip': '203.0.113.56',
              'failed-session-count': 200,
            },
            {
              'result-type': 'validation-failure',
              'receiving-mx-hostname': 'mx-backup.mail.company-y.example',
              'receiving-ip': '203.0.113.57',
              'failed-session-count': 3,
            },
          ],
        },
        {
          policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'company-y.example' },
          summary: { 'total-successful-session-count': 7, 'total-failure-session-count': 0 },
        },
      ],
    })
  })

  test('is read by the reader of incoming reports', async () => {
    const file = gzipSync(JSON.stringify(tlsReportDocument(REPORT)))
    expect(await readReport(file, Date.UTC(2016, 3, 2))).toEqual({
      kind: 'tls',
      org: 'Company-X',
      contact: 'sts-reporting@company-x.example',
      reportId: tlsReportId(REPORT),
      begin: Date.UTC(2016, 3, 1),
      end: Date.UTC(2016, 3, 1, 23, 59, 59),
      skipped: 0,
      policies: [
        {
          ...{ type: 'sts', domain: 'company-y.example', successful: 5326, failed: 303 },
          failures: [
            { type: 'certificate-expired', mx: 'mx1.mail.company-y.example', sessions: 100 },
            { type: 'starttls-not-supported', mx: 'mx2.mail.company-y.example', sessions: 200 },
            { type: 'validation-failure', mx: 'mx-backup.mail.company-y.example', sessions: 3 },
          ],
        },
        { type: 'no-policy-found', domain: 'company-y.example', successful: 7, failed: 0, failures: [] },
      ],
    })
  })

  test('has the same id at each worker, and another one for another domain, day or system', () => {
    const ids = [{}, { day: '2016-04-02' }, { domain: 'other.example' }, { hostname: 'other.example' }].map(change =>
      tlsReportId({ ...REPORT, ...change }),
    )
    expect(new Set(ids).size).toBe(4)
    expect(ids[0]).toBe(tlsReportId({ day: REPORT.day, domain: REPORT.domain, hostname: REPORT.hostname }))
    expect(ids[0]).toMatch(/^2016-04-01\.[\da-f]{20}@mail\.company-x\.example$/)
  })

  test('is called by submitter, domain and period', () => {
    expect(tlsReportFileName(REPORT)).toBe('company-x.example!company-y.example!1459468800!1459555199.json.gz')
  })
})

describe('the mail of a report', () => {
  const file = gzipSync(JSON.stringify(tlsReportDocument(REPORT)))
  const build = (report: OutgoingTlsReport) =>
    tlsReportMail(report, {
      ...{ to: 'reports@company-y.example', messageId: '<em_1@mail.company-x.example>', boundary: '=_b' },
      ...{ at: new Date(Date.UTC(2016, 3, 2, 1)), file },
    }).toString('latin1')

  test('has the fields of the RFC and the report as an attachment', () => {
    const mail = build(REPORT)
    const [header = '', text = '', attachment = ''] = mail.split('--=_b')
    expect(header.replaceAll('\r\n ', ' ')).toBe(
      [
        'From: <sts-reporting@company-x.example>',
        'To: <reports@company-y.example>',
        `Subject: ${tlsReportSubject(REPORT)}`,
        'Date: Sat, 02 Apr 2016 01:00:00 +0000',
        'Message-ID: <em_1@mail.company-x.example>',
        'TLS-Report-Domain: company-y.example',
        'TLS-Report-Submitter: company-x.example',
        'TLS-Required: No',
        'Auto-Submitted: auto-generated',
        'MIME-Version: 1.0',
        'Content-Type: multipart/report; report-type="tlsrpt"; boundary="=_b"',
        '',
        '',
      ].join('\r\n'),
    )
    expect(tlsReportSubject(REPORT)).toBe(
      `Report Domain: company-y.example Submitter: company-x.example Report-ID: <${tlsReportId(REPORT)}>`,
    )
    expect(Buffer.from(text.split('\r\n\r\n')[1] ?? '', 'base64').toString()).toContain(
      'about mail to company-y.example',
    )
    const [fields = '', body = ''] = attachment.split('\r\n\r\n')
    expect(fields).toContain('Content-Type: application/tlsrpt+gzip')
    expect(fields).toContain(`filename="${tlsReportFileName(REPORT)}"`)
    expect(JSON.parse(gunzipSync(Buffer.from(body, 'base64')).toString())).toEqual(tlsReportDocument(REPORT))
  })

  test('is ASCII in lines that fit, with the longest domain and an organization of any letters', () => {
    const domain = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(53)}.example`
    const mail = build({ ...REPORT, domain, organization: '公司'.repeat(50) })
    expect(mail).toMatch(/^[\x20-\x7e\r\n]+$/)
    expect(mail.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(Math.max(...mail.split('\r\n').map(({ length }) => length))).toBeLessThan(998)
  })
})
