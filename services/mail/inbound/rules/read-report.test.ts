import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { buildDsn } from '../../message/delivery-status-notification.ts'
import { readReport } from './read-report.ts'
import type { DeliveryStatusReport, FeedbackReport, Report } from './report.ts'

const sample = (name: string): Buffer =>
  readFileSync(new URL(`../../../../test/support/mail/reports/${name}.eml`, import.meta.url))

function deliveryStatus(report: Report): DeliveryStatusReport {
  if (report.kind !== 'delivery_status') throw new Error(`a report of kind ${report.kind}`)
  return report
}

function feedback(report: Report): FeedbackReport {
  if (report.kind !== 'feedback') throw new Error(`a report of kind ${report.kind}`)
  return report
}

/** Recipients on one line each: address, action, status, diagnostic. */
const shown = (name: string) =>
  deliveryStatus(readReport(sample(name))).recipients.map(({ finalRecipient, action, status, diagnostic }) =>
    [finalRecipient, action, status, diagnostic].join(' | '),
  )

const NOBODY = 'nobody@receiver.example'
const UNKNOWN = `550 5.1.1 <${NOBODY}>: Recipient address rejected: User unknown`

describe('bounces', () => {
  test.each<[name: string, expected: string[]]>([
    [
      'postfix',
      [
        `${NOBODY} | failed | 5.1.1 | ${UNKNOWN} in virtual mailbox table`,
        'full@receiver.example | failed | 4.2.2 | 452 4.2.2 <full@receiver.example>: Mailbox full',
      ],
    ],
    [
      'postfix-text-only',
      [
        `${NOBODY} | failed | 5.1.1 | ${UNKNOWN} in virtual mailbox table`,
        'slow@other.example | failed |  | connect to mx.other.example[203.0.113.9]:25: Connection timed out',
      ],
    ],
    ['postfix-delayed', ['later@receiver.example | delayed | 4.7.1 | 451 4.7.1 Greylisting in action']],
    [
      'gmail',
      [
        `${NOBODY} | failed | 5.1.1 | 550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser 4fb-1.1 - gsmtp`,
      ],
    ],
    ['gmail-headers-lost', [`${NOBODY} | failed | 5.1.1 | ${UNKNOWN}`]],
    [
      'exchange-online',
      [
        `${NOBODY} | failed | 5.1.10 | 550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ${NOBODY} not found by SMTP address lookup`,
      ],
    ],
    [
      'exchange-online-text-only',
      [
        `${NOBODY} | failed | 5.1.10 | 550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ${NOBODY} not found by SMTP address lookup`,
      ],
    ],
    ['exchange-2003', [`${NOBODY} | failed | 5.1.1 | 550 5.1.1 <${NOBODY}>... User unknown>`]],
    ['exim', [`${NOBODY} | failed | 5.1.1 | ${UNKNOWN}`, 'gone@receiver.example | failed |  | Unrouteable address']],
    [
      'exim-delayed',
      [
        'later@receiver.example | delayed |  | host store.receiver.example [198.51.100.7] Delay reason: Connection timed out',
      ],
    ],
    [
      'qmail',
      [
        `${NOBODY} | failed | 5.1.1 | Sorry, no mailbox here by that name. (#5.1.1)`,
        'full@other.example | failed | 5.2.2 | 552 5.2.2 Mailbox size limit exceeded',
      ],
    ],
    ['sendmail', [`${NOBODY} | failed | 5.1.1 | 550 5.1.1 <${NOBODY}>... User unknown`]],
    ['sendmail-text-only', [`${NOBODY} | failed | 5.1.1 | 550 5.1.1 <${NOBODY}>... User unknown`]],
    ['qq', [`${NOBODY} | failed | 5.1.1 | ${UNKNOWN}`]],
    ['exmail', [`${NOBODY} | failed | 5.2.2 | 552 5.2.2 Mailbox size limit exceeded`]],
    [
      'netease',
      [
        `${NOBODY} | failed |  | SMTP error, RCPT TO: 550 5.1.1 用户不存在 ${NOBODY}`,
        'gone@receiver.example | failed |  | SMTP error, RCPT TO: 550 5.1.1 用户不存在 gone@receiver.example',
      ],
    ],
    ['netease-unlabelled', [`${NOBODY} | failed |  | 550 RC:NE The email account does not exist.`]],
    [
      'yahoo',
      [
        `${NOBODY} | failed |  | 554: delivery error: dd This user doesn't have a receiver.example account (${NOBODY}) [0] - mta1001.mail.example`,
      ],
    ],
    ['status-as-text', [`${NOBODY} | failed | 5.1.1 | 550 5.1.1 User unknown = nobody`]],
    ['bounce-of-bounce', ['author@receiver.example | failed | 5.1.1 | ']],
    ['confirmation', ['用户@receiver.example | delivered | 2.0.0 | 250 2.0.0 Ok']],
  ])('%s', (name, expected) => {
    expect(shown(name)).toEqual(expected)
  })

  test.each([
    ['postfix', 'store.receiver.example'],
    ['gmail', 'gmail-smtp-in.l.google.com'],
    ['exim', 'store.receiver.example'],
    ['qq', 'mx.receiver.example'],
    ['exchange-online', undefined],
  ])('the host that gave the reply: %s', (name, host) => {
    expect(deliveryStatus(readReport(sample(name))).recipients[0]?.remoteMta).toBe(host)
  })

  test('an original recipient is kept beside the final one', () => {
    const [first] = deliveryStatus(readReport(sample('postfix'))).recipients
    expect(first?.originalRecipient).toBe('Nobody@receiver.example')
  })

  test('our own reports can be read, with any line ends', () => {
    const at = new Date('2026-11-02T08:00:00Z')
    const raw = buildDsn({
      from: 'postmaster@sender.example',
      to: 'author@sender.example',
      reportingMta: 'mail.sender.example',
      messageId: '<1@sender.example>',
      boundary: 'b',
      at,
      arrivedAt: at,
      recipients: [
        { email: NOBODY, action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 no', remote: 'mx.example', at },
        { email: '用户@例子.example', orcpt: 'rfc822;a+2Bb@x.example', action: 'relayed', status: '2.0.0', at },
      ],
      original: { bytes: Buffer.from('Message-ID: <m@sender.example>\r\n\r\n'), full: false },
    })
    const expected = {
      kind: 'delivery_status',
      recipients: [
        {
          finalRecipient: NOBODY,
          action: 'failed',
          status: '5.1.1',
          diagnostic: '550 5.1.1 no',
          remoteMta: 'mx.example',
        },
        {
          finalRecipient: '用户@xn--fsqu00a.example',
          originalRecipient: 'a+b@x.example',
          action: 'relayed',
          status: '2.0.0',
        },
      ],
      original: { messageId: '<m@sender.example>', isReport: false },
    }
    expect(readReport(raw)).toMatchObject(expected)
    expect(readReport(Buffer.from(raw.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'))).toMatchObject(expected)
  })
})

describe('the original of a report', () => {
  test.each([
    'postfix',
    'postfix-delayed',
    'gmail',
    'gmail-headers-lost',
    'exchange-online',
    'exchange-online-text-only',
    'exim',
    'qmail',
    'sendmail',
    'exmail',
    'netease',
    'yahoo',
  ])('%s', name => {
    const { original } = deliveryStatus(readReport(sample(name)))
    expect(original).toMatchObject({
      messageId: '<order.1@sender.example>',
      from: 'orders@sender.example',
      feedbackId: 'orders:sender',
      listUnsubscribe: '<https://sender.example/u/1>, <mailto:unsubscribe@sender.example>',
      isReport: false,
    })
    expect(original?.headers.get('subject')).toBe('Your order')
  })

  test.each(['postfix-text-only', 'exchange-2003', 'qq', 'netease-unlabelled'])('%s has none', name => {
    expect(deliveryStatus(readReport(sample(name))).original).toBeUndefined()
  })

  test('a report about a report shows itself as one, and its recipients are not those of the inner one', () => {
    const { original, recipients } = deliveryStatus(readReport(sample('bounce-of-bounce')))
    expect(original?.isReport).toBe(true)
    expect(recipients).toHaveLength(1)
  })
})

describe('complaints', () => {
  test('with the complete message', () => {
    expect(feedback(readReport(sample('feedback')))).toMatchObject({
      userAgent: 'ProviderFBL/1.0',
      arrivedAt: new Date('2026-11-02T08:00:00Z'),
      feedbackType: 'abuse',
      originalRecipients: ['Nobody@receiver.example', 'other@receiver.example'],
      originalMailFrom: 'b+token@bounce.sender.example',
      sourceIp: '192.0.2.10',
      reportedDomain: 'sender.example',
      original: { messageId: '<order.1@sender.example>', feedbackId: 'orders:sender' },
    })
  })

  test('with the header only, and recipients that the provider does not disclose', () => {
    expect(feedback(readReport(sample('feedback-headers-only')))).toMatchObject({
      feedbackType: 'abuse',
      originalRecipients: [],
      originalMailFrom: 'b+token@bounce.sender.example',
      sourceIp: '2001:db8::10',
      reportedDomain: 'sender.example',
      original: { messageId: '<order.1@sender.example>', listUnsubscribe: expect.stringContaining('/u/1') },
    })
  })

  test('about failed authentication, with an encoded header', () => {
    expect(feedback(readReport(sample('feedback-authentication')))).toMatchObject({
      feedbackType: 'auth-failure',
      original: { messageId: '<order.1@sender.example>' },
    })
  })

  test('of Microsoft, which has a form of its own', () => {
    expect(feedback(readReport(sample('feedback-microsoft')))).toMatchObject({
      feedbackType: 'abuse',
      originalRecipients: ['nobody@outlook.example'],
      sourceIp: '192.0.2.10',
      original: { messageId: '<order.1@sender.example>' },
    })
  })
})

test.each([
  ['auto-reply-outlook', 'auto_reply'],
  ['auto-reply-vacation', 'auto_reply'],
  ['auto-reply-qq', 'auto_reply'],
  ['receipt', 'auto_reply'],
  ['answer-of-a-person', 'unknown'],
  ['forwarded-bounce', 'unknown'],
])('%s is %s', (name, kind) => {
  expect(readReport(sample(name))).toEqual({ kind })
})
