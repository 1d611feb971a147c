import { describe, expect, test } from 'vitest'
import { buildDsn, type DsnInput, rfc5322Date, wantsReport } from './delivery-status-notification.ts'

const at = new Date('2026-11-21T10:15:12Z')
const input: DsnInput = {
  from: 'postmaster@mail.example',
  to: 'sender@example.com',
  reportingMta: 'mail.example',
  messageId: '<r1@mail.example>',
  boundary: '=_b',
  at,
  arrivedAt: new Date('2026-11-20T10:15:12Z'),
  envid: 'QQ314159',
  recipients: [
    {
      email: 'nobody@example.net',
      orcpt: 'rfc822;nobody@example.net',
      action: 'failed',
      status: '5.1.1',
      diagnostic: '550 5.1.1 no such user é',
      remote: 'mx.example.net',
      at,
    },
  ],
  original: { bytes: Buffer.from('From: sender@example.com\r\nSubject: hello\r\n'), full: false },
}

/** The parts between the boundaries. */
const partsOf = (raw: Buffer) => raw.toString('utf8').split(/\r\n--=_b(?:--)?\r\n/)

describe('buildDsn', () => {
  test('is a multipart/report of three parts (RFC 3464) with an empty sender', () => {
    const [head = '', text = '', status = '', original = ''] = partsOf(buildDsn(input))
    expect(head).toContain('Content-Type: multipart/report; report-type=delivery-status;')
    expect(head).toContain('Auto-Submitted: auto-replied')
    expect(head).toContain('To: <sender@example.com>')
    expect(head).toContain('Date: Sat, 21 Nov 2026 10:15:12 +0000')
    expect(text).toContain('Content-Type: text/plain; charset=utf-8')
    expect(status).toBe(
      [
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; mail.example',
        'Original-Envelope-Id: QQ314159',
        'Arrival-Date: Fri, 20 Nov 2026 10:15:12 +0000',
        '',
        'Original-Recipient: rfc822;nobody@example.net',
        'Final-Recipient: rfc822; nobody@example.net',
        'Action: failed',
        'Status: 5.1.1',
        'Remote-MTA: dns; mx.example.net',
        'Diagnostic-Code: smtp; 550 5.1.1 no such user ?',
        'Last-Attempt-Date: Sat, 21 Nov 2026 10:15:12 +0000',
        '',
      ].join('\r\n'),
    )
    expect(original).toContain('Content-Type: text/rfc822-headers\r\n\r\nFrom: sender@example.com\r\n')
  })

  test('explains itself in English and Chinese', () => {
    const [, part = ''] = partsOf(buildDsn(input))
    const text = Buffer.from(part.split('\r\n\r\n')[1] ?? '', 'base64').toString('utf8')
    expect(text).toContain('could not be delivered')
    expect(text).toContain('未能送达')
    expect(text.match(/<nobody@example\.net>/g)).toHaveLength(2)
    expect(text).toContain('550 5.1.1 no such user')
  })

  test('returns the complete message for RET=FULL, and is marked when it is 8-bit', () => {
    const bytes = Buffer.from('Subject: x\r\n\r\nh\u00e9llo\r\n')
    const raw = buildDsn({ ...input, original: { bytes, full: true } })
    expect(raw.includes(bytes)).toBe(true)
    expect(raw.toString()).toContain('Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\n\r\n')
  })

  test('lists several recipients, and encodes addresses outside of ASCII (RFC 6533)', () => {
    const recipients = [
      ...input.recipients,
      { email: 'jos\u00e9@example.org', action: 'failed', status: '5.4.7', at } as const,
    ]
    const status = partsOf(buildDsn({ ...input, recipients }))[2] ?? ''
    expect(status.split('\r\n\r\n')).toHaveLength(4)
    expect(status).toContain('Final-Recipient: utf-8; jos\\x{E9}@example.org')
  })

  test.each([
    ['QQ314159', 'QQ314159'],
    ['a+2Bb+3Dc', 'a+b=c'],
    ['a+0D+0ABcc:+20x', 'a?Bcc: x'],
    ['+C3+A9+00', '?'],
  ])('ENVID=%s is included decoded, on its one line (RFC 3461 6.3)', (envid, expected) => {
    const status = partsOf(buildDsn({ ...input, envid }))[2] ?? ''
    expect(status.split('\r\n').slice(2, 5)).toEqual([
      'Reporting-MTA: dns; mail.example',
      `Original-Envelope-Id: ${expected}`,
      'Arrival-Date: Fri, 20 Nov 2026 10:15:12 +0000',
    ])
  })

  test.each([
    ['rfc822;a+2Bshop@example.org', 'rfc822;a+shop@example.org'],
    ['rfc822;a+0D+0AAction:+20delivered', 'rfc822;a?Action: delivered'],
    ['utf-8;jos\\x{E9}@example.org', 'utf-8;jos\\x{E9}@example.org'],
  ])('ORCPT=%s is included decoded, on its one line', (orcpt, expected) => {
    const recipients = input.recipients.map(recipient => ({ ...recipient, orcpt }))
    const status = partsOf(buildDsn({ ...input, recipients }))[2] ?? ''
    expect(status.split('\r\n').filter(line => /^(Original-Recipient|Action):/.test(line))).toEqual([
      `Original-Recipient: ${expected}`,
      'Action: failed',
    ])
  })

  test('reports that a message was relayed when nothing failed', () => {
    const recipients = [{ email: 'a@example.net', action: 'relayed', status: '2.0.0', at } as const]
    const raw = buildDsn({ ...input, recipients }).toString()
    expect(raw).toContain('Action: relayed')
    expect(Buffer.from(/=\?utf-8\?B\?([^?]*)/.exec(raw)?.[1] ?? '', 'base64').toString()).toContain('handed over')
  })
})

test.each([
  [undefined, 'failed', true],
  [undefined, 'relayed', false],
  [[], 'failed', true],
  [['NEVER'], 'failed', false],
  [['NEVER'], 'relayed', false],
  [['FAILURE'], 'failed', true],
  [['SUCCESS'], 'failed', false],
  [['SUCCESS', 'DELAY'], 'relayed', true],
] as const)('NOTIFY=%j, %s: reported %s', (notify, action, wanted) => {
  expect(wantsReport(notify, action)).toBe(wanted)
})

test('dates follow RFC 5322', () => {
  expect(rfc5322Date(at)).toBe('Sat, 21 Nov 2026 10:15:12 +0000')
})
