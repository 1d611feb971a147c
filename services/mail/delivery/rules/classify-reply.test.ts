import { describe, expect, test } from 'vitest'
import { classifyReply, type Stage } from './classify-reply.ts'
import { parseReply } from './smtp-reply.ts'

const classify = (line: string, stage: Stage = 'rcpt', site = 'example.com') =>
  classifyReply(parseReply([line]) ?? { code: 0, text: '' }, stage, site)

describe('classifyReply', () => {
  test.each<[string, Stage, string, string, string | undefined, boolean]>([
    ['250 2.0.0 queued', 'dot', 'example.com', 'delivered', undefined, false],
    ['550 5.1.1 no such user', 'rcpt', 'example.com', 'bounced', 'address', false],
    ['550 5.1.10 null mx', 'rcpt', 'example.com', 'bounced', 'address', false],
    ['550 user unknown', 'rcpt', 'example.com', 'bounced', 'address', false],
    [
      '554 delivery error: This user doesnt have an account, no such user',
      'rcpt',
      'example.com',
      'bounced',
      'address',
      false,
    ],
    ['552 5.2.2 over quota', 'rcpt', 'example.com', 'bounced', 'mailbox_full', false],
    ['452 4.2.2 over quota', 'rcpt', 'example.com', 'deferred', 'mailbox_full', false],
    ['450 4.2.0 Greylisted, see you later', 'rcpt', 'example.com', 'deferred', 'greylisted', false],
    ['451 4.7.1 Greylisting in action', 'rcpt', 'example.com', 'deferred', 'greylisted', false],
    ['421 4.7.0 try again later', 'mail', 'example.com', 'deferred', 'throttled', true],
    ['451 4.7.500 Server busy', 'rcpt', 'microsoft', 'deferred', 'throttled', true],
    ['451 4.7.1 Try again later', 'rcpt', 'example.com', 'deferred', 'greylisted', false],
    ['451 4.7.1 you send too fast', 'mail', 'example.com', 'deferred', 'throttled', true],
    ['451 4.7.1 Ratelimit "user" exceeded', 'dot', 'example.com', 'deferred', 'throttled', true],
    ['450 4.7.0 not now', 'rcpt', 'example.com', 'deferred', 'throttled', true],
    ['450 too many messages', 'rcpt', 'example.com', 'deferred', 'throttled', true],
    ['451 4.3.0 local problem', 'dot', 'example.com', 'deferred', 'other', false],
    ['550 5.7.1 message refused as spam', 'dot', 'example.com', 'bounced', 'content', false],
    ['550 your message looks like spam', 'dot', 'example.com', 'bounced', 'content', false],
    ['552 5.3.4 message too big', 'mail', 'example.com', 'bounced', 'size', false],
    ['503 bad sequence', 'data', 'example.com', 'bounced', 'own_fault', false],
    ['554 transaction failed', 'dot', 'example.com', 'bounced', 'other', false],
    ['550 Ip frequency limited [abc]', 'rcpt', 'tencent', 'deferred', 'throttled', true],
    ['550 Domain frequency limited', 'dot', 'tencent', 'deferred', 'throttled', true],
    // Tencent's business customers have domains of their own.
    ['550 Ip frequency limited', 'rcpt', 'example.com', 'deferred', 'throttled', true],
    ['550 Mailbox unavailable or access denied', 'rcpt', 'tencent', 'deferred', 'throttled', false],
    ['550 Mailbox not found', 'rcpt', 'tencent', 'bounced', 'address', false],
    ['550 MI:CEL sending too fast', 'rcpt', 'netease', 'deferred', 'throttled', true],
    ['421 4.7.0 [TSS04] Messages temporarily deferred', 'greeting', 'yahoo', 'deferred', 'throttled', true],
    ['554 no SMTP service here', 'greeting', 'example.com', 'deferred', 'policy', false],
    ['550 5.7.1 your network is blocked', 'ehlo', 'example.com', 'deferred', 'reputation', false],
    ['550 5.1.1 no such user', 'greeting', 'example.com', 'deferred', 'policy', false],
    ['421 4.7.0 your network is blocked', 'greeting', 'example.com', 'deferred', 'reputation', true],
    ['454 4.7.0 TLS not available', 'starttls', 'example.com', 'deferred', 'throttled', true],
    ['535 5.7.8 wrong password', 'auth', 'relay', 'deferred', 'relay_login', false],
    ['250 ok', 'data', 'example.com', 'deferred', 'other', false],
    ['354 again', 'dot', 'example.com', 'deferred', 'other', false],
  ])('%s (%s, %s): %s %s', (line, stage, site, outcome, kind, slowDown) => {
    const classification = classify(line, stage, site)
    expect(classification.outcome).toBe(outcome)
    expect(classification.kind).toBe(kind)
    expect(classification.slowDown ?? false).toBe(slowDown)
  })

  test('every 4xx is tried again and no 5xx is, apart from providers that send 5xx and mean 4xx', () => {
    for (let code = 400; code < 600; code++)
      expect(classify(`${code} whatever`).outcome).toBe(code < 500 ? 'deferred' : 'bounced')
  })
})
