import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bounceOf } from './bounce-of.ts'
import { readReport } from './read-report.ts'

const MIB = 1024 * 1024
const STATUS_HEAD = 'Content-Type: message/delivery-status\r\n\r\n'
const DAEMON = 'Return-Path: <>\r\nFrom: mailer-daemon@a.example\r\nSubject: Undelivered Mail Returned to Sender\r\n'

/** Messages that are made to be expensive. Each is read completely, or as far as its bound. */
const EXPENSIVE: [name: string, message: () => string][] = [
  ['50 MiB of text', () => `${DAEMON}\r\n${'<a@b.example>: 550 no\r\n'.repeat((50 * MIB) / 23)}`],
  ['carriage returns only', () => '\r'.repeat(2 * MIB)],
  ['line feeds only', () => '\n'.repeat(2 * MIB)],
  ['NUL only', () => `${DAEMON}\r\n${'\0'.repeat(2 * MIB)}`],
  ['a line without an end', () => `${DAEMON}\r\n${'a@'.repeat(MIB)}`],
  ['a header of many fields', () => `${'X-Failed-Recipients: a@b.example,\r\n'.repeat(60_000)}\r\n`],
  ['a field of many lines', () => `X-Failed-Recipients: a\r\n${' ,a@b.example\r\n'.repeat(140_000)}\r\n`],
  ['names of fields without an end', () => `${'a'.repeat(MIB)}${':'.repeat(MIB)}`],
  ['endless nesting', () => 'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n'.repeat(40_000)],
  [
    'many status parts',
    () =>
      `Content-Type: multipart/report; boundary=x\r\n\r\n${`--x\r\n${STATUS_HEAD}Final-Recipient: a\r\n`.repeat(30_000)}`,
  ],
  ['many recipients', () => `${STATUS_HEAD}${'Final-Recipient: rfc822; a@b.example\r\n\r\n'.repeat(50_000)}`],
  ['one group of many recipients', () => `${STATUS_HEAD}${'Final-Recipient: a@b.example\r\n'.repeat(70_000)}`],
  ['empty lines in a status', () => `${STATUS_HEAD}${' \r\n'.repeat(500_000)}${' '.repeat(500_000)}`],
  [
    'a diagnostic of encoded words',
    () => `${STATUS_HEAD}Final-Recipient: a\r\nDiagnostic-Code: ${'=?a?b?='.repeat(200_000)}`,
  ],
  ['tags without an end', () => `${DAEMON}Content-Type: text/html\r\n\r\n${'<style'.repeat(300_000)}`],
  ['opened brackets', () => `${DAEMON}Content-Type: text/html\r\n\r\n${'<'.repeat(2 * MIB)}`],
  ['entities', () => `${DAEMON}Content-Type: text/html\r\n\r\n${'&#9999999;&lt;'.repeat(150_000)}`],
  [
    'base64 that is broken',
    () => `${STATUS_HEAD.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n')}${'=A?'.repeat(600_000)}`,
  ],
  [
    'quoted-printable without text',
    () => `${DAEMON}Content-Transfer-Encoding: quoted-printable\r\n\r\n${'='.repeat(2 * MIB)}`,
  ],
  ['an original of fields', () => `Content-Type: message/rfc822\r\n\r\n${'a: b\r\n'.repeat(300_000)}`],
  ['dashes', () => `${DAEMON}\r\n${'-'.repeat(2 * MIB)}`],
  ['lines of dashes', () => `${DAEMON}\r\n${`${'-'.repeat(900)}\r\n`.repeat(2_000)}`],
  ['blanks in front of addresses', () => `${DAEMON}\r\n${`${' '.repeat(950)}a@b.example\r\n`.repeat(2_000)}`],
  [
    'recipients with replies',
    () => `${DAEMON}\r\n${Array.from({ length: 80_000 }, (_, n) => `a${n}@b.example: 550 x\r\n`).join('')}`,
  ],
]

describe('messages that are made to be expensive', () => {
  test.each(EXPENSIVE)('%s', (_, message) => {
    const raw = Buffer.from(message(), 'latin1')
    const started = process.cpuUsage()
    const report = readReport(raw)
    const { user, system } = process.cpuUsage(started)
    expect(user + system).toBeLessThan(3_000_000)
    expect(JSON.stringify(report).length).toBeLessThan(8 * MIB)
    if (report.kind === 'delivery_status') expect(report.recipients.length).toBeLessThanOrEqual(1_000)
  })
})

const WORDS = [
  'Return-Path: <>',
  'From: mailer-daemon@a.example',
  'Subject: Undelivered Mail Returned to Sender',
  'X-Failed-Recipients: a@b.example',
  'Content-Type: multipart/report; boundary=A; report-type=delivery-status',
  'Content-Type: message/delivery-status',
  'Content-Type: message/feedback-report',
  'Content-Type: message/rfc822',
  'Content-Type: text/html; charset=gbk',
  'Content-Type: text/plain; charset="\0"',
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: quoted-printable',
  'Final-Recipient: utf-8; \\x{110000}@\\x{1F600}.example',
  'Original-Recipient: rfc822;a+ZZ@b.example',
  'Action: ',
  'Status: 5.999.999.9',
  'Diagnostic-Code: smtp; 550-5.1.1 [([ 550-5.1.1 x',
  'Feedback-Type: abuse',
  'Source-IP: ::ffff:',
  'Original-Rcpt-To: <>',
  'Hi. This is the qmail-send program at a.',
  '<a@b.example>: host c.example[1.2.3.4] said: 550',
  '收件人：a@b.example',
  '--- Below this line is a copy of the message.',
  '--A',
  '--A--',
  '',
  ' ',
  '\0',
  '=?gb18030?b?/w?=',
  '&#0;&#1114112;',
]

describe('whatever the bytes', () => {
  const kinds = ['delivery_status', 'feedback', 'auto_reply', 'unknown']

  test('lines of reports in any order are read without an error', () => {
    const message = fc.array(fc.oneof(fc.constantFrom(...WORDS), fc.string()), { maxLength: 40 })
    fc.assert(
      fc.property(message, fc.constantFrom('\r\n', '\n', '\r'), (lines, end) => {
        const report = readReport(Buffer.from(lines.join(end)))
        expect(kinds).toContain(report.kind)
        if (report.kind === 'delivery_status') report.recipients.forEach(bounceOf)
      }),
      { numRuns: 1_000 },
    )
  })

  test('octets are read without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), octets => {
        expect(kinds).toContain(readReport(Buffer.from(octets)).kind)
      }),
    )
  })

  test('real reports with changed and missing octets are read without an error', () => {
    const names = ['postfix', 'gmail', 'exim', 'qq', 'netease', 'feedback', 'feedback-microsoft']
    const samples = names.map(name =>
      readFileSync(new URL(`../../../../test/support/mail/reports/${name}.eml`, import.meta.url)),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 30 }),
        fc.nat(4_000),
        (sample, changes, length) => {
          const octets = Buffer.from(sample.subarray(0, length))
          for (const [at, octet] of changes) if (at < octets.length) octets[at] = octet
          expect(kinds).toContain(readReport(octets).kind)
        },
      ),
      { numRuns: 500 },
    )
  })
})

test('a text in which an address is found by its form never becomes a daemon or an address without a domain', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('<a@b.example>', 'postmaster@c.example', 'x@', '@y', ': 550 5.1.1 no', '\r\n', ' ')),
      words => {
        const report = readReport(Buffer.from(`${DAEMON}\r\n${words.join('')}`))
        if (report.kind !== 'delivery_status') throw new Error(report.kind)
        expect(report.recipients.length).toBeGreaterThan(0)
        for (const { finalRecipient } of report.recipients)
          expect(finalRecipient === undefined || /^[^@]+@(?!c\.)[^@]+\.example/.test(finalRecipient)).toBe(true)
      },
    ),
  )
})
